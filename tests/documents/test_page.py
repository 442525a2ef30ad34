"""The page: whole, silent, the same for the same run, and nothing that a run prints gets out of its place."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from explained_runs import EVIL_NAMES, HOSTILE, PLAIN, explained, long_run

from context_firewall import InvalidInput
from context_firewall.documents.explanation import Explanation
from context_firewall.documents.page import LISTED_FAILURES, _resource, failure_places, line_count, render_page
from context_firewall.documents.printable import UNSAFE

Attributes = list[tuple[str, str | None]]


class Parsed(HTMLParser):
    """The elements of a page, its scripts and styles, and its text."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside == "style":
            self.styles[-1] += data
        else:
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of that name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        """All text outside scripts and styles, white space folded."""
        return " ".join(" ".join(self.words).split())


def page_of(data: bytes, stderr: bytes | None = None, *, max_output_bytes: int | None = None) -> bytes:
    streams = {"stdout": data} | ({} if stderr is None else {"stderr": stderr})
    return render_page(explained(data, stderr, max_output_bytes=max_output_bytes), streams)


def test_same_run_same_bytes() -> None:
    """EXP-4."""
    assert page_of(HOSTILE, b"x\n") == page_of(HOSTILE, b"x\n")


def test_it_asks_nothing_of_anybody() -> None:
    """EXP-4."""
    page = page_of(PLAIN)
    parsed = Parsed(page)
    for name, attributes in parsed.elements:
        assert name not in ("link", "img", "iframe", "object", "embed", "base", "form", "video", "audio", "use"), name
        assert "src" not in attributes
        assert not any(key.startswith("on") or key == "style" for key in attributes), attributes
        assert attributes.get("href", "#").startswith("#")  # type: ignore[union-attr]
    assert not re.search(r"url\(|@import|@font-face", parsed.styles[0])
    assert not re.search(
        r"fetch\(|XMLHttpRequest|WebSocket|innerHTML|outerHTML|insertAdjacent|eval\(", parsed.scripts[1]
    )


@pytest.mark.parametrize("data", [PLAIN, HOSTILE, b""], ids=["plain", "hostile", "empty"])
def test_its_policy_names_its_own_script_and_style_and_nothing_else(data: bytes) -> None:
    parsed = Parsed(page_of(data))
    metas = [meta for meta in parsed.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert len(metas) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in str(metas[0]["content"]).split(";"))

    def digest(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    assert len(parsed.styles) == 1
    assert [one.get("type") for one in parsed.all("script")] == ["application/json", None]
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == digest(parsed.styles[0])
    assert rules["script-src"] == digest(parsed.scripts[1])
    assert "unsafe" not in str(metas[0]["content"])


def test_nothing_of_a_hostile_run_becomes_markup() -> None:
    plain, hostile = Parsed(page_of(PLAIN)), Parsed(page_of(HOSTILE))
    assert {name for name, _ in hostile.elements} == {name for name, _ in plain.elements}
    assert len(hostile.scripts) == 2
    assert hostile.scripts[1] == plain.scripts[1]
    assert hostile.styles == plain.styles
    assert b"<!--" not in page_of(HOSTILE)
    assert page_of(HOSTILE).count(b"</script") == 2


def test_no_character_of_a_run_can_deceive_whoever_reads_the_source() -> None:
    rest = UNSAFE.sub("", page_of(HOSTILE).decode().replace("\n", ""))
    assert rest == page_of(HOSTILE).decode().replace("\n", "")


def test_the_runs_text_stands_in_it_once_and_whole() -> None:
    data = json.loads(Parsed(page_of(HOSTILE, b"\xffone\r\ntwo")).scripts[0])
    assert [stream["name"] for stream in data["streams"]] == ["stdout", "stderr"]
    assert data["streams"][0]["text"] == HOSTILE.decode("utf-8", "replace")
    assert data["streams"][1]["text"] == "\ufffdone\r\ntwo"
    for stream in data["streams"]:
        lasts = stream["spans"][::2]
        assert lasts == sorted(lasts)
        assert lasts[-1] == stream["line_count"]
        assert all(0 <= rule < len(data["rules"]) for rule in stream["spans"][1::2])
    marked = b"a line that stands nowhere else 5e1f\n"
    assert page_of(PLAIN + marked).count(b"5e1f") == 1


def test_spans_mean_what_the_explanation_says() -> None:
    explanation = explained(PLAIN)
    data = json.loads(Parsed(render_page(explanation, {"stdout": PLAIN})).scripts[0])
    flat = iter(data["streams"][0]["spans"])
    told = [(last, *data["rules"][rule]) for last, rule in zip(flat, flat, strict=True)]
    assert told == [
        (span["last"], span["dialect"], span["kind"], span["fate"], span["rule"], span.get("failure", -1))
        for span in explanation["streams"][0]["spans"]
    ]


def test_verdict_reasons_failures_and_receipt_can_be_read_without_the_script() -> None:
    explanation = explained(PLAIN)
    text = Parsed(render_page(explanation, {"stdout": PLAIN})).text
    receipt = explanation["packet"]["receipt"]
    assert "FAILED 2 failed, 2 passed, 4 in all; exit code 1; evidence NOT SUFFICIENT, see reasons" in text
    assert "UNCLASSIFIED_EVIDENCE the grammar does not know some lines" in text
    assert "shuts stdout 4 also shuts twice stdout 8" in text
    for words in (receipt["input_hash"], receipt["semantic_payload_hash"], receipt["configuration"]["identity"]):
        assert words in text
    assert "file:out.txt" in text


def test_identities_of_a_hostile_run_are_shown_in_full() -> None:
    text = Parsed(page_of(HOSTILE)).text
    assert EVIL_NAMES[0] in text
    assert "<img src=x onerror=window.broken=1>" in text
    assert "{{script}} {{data}}" in text
    assert "\\u202egnp.exe \\u2066isolated" in text


def test_counts_stand_beside_every_choice() -> None:
    parsed = Parsed(page_of(PLAIN))
    boxes = [one for one in parsed.all("input") if "data-group" in one]
    assert [one["value"] for one in boxes if one["data-group"] == "fate"] == ["kept", "referenced", "suppressed"]
    assert [one["value"] for one in boxes if one["data-group"] == "kind"] == sorted(
        {span["kind"] for span in explained(PLAIN)["streams"][0]["spans"]}
    )
    assert "successful_test 2" in parsed.text


def test_it_can_be_found_around_in_without_eyes() -> None:
    parsed = Parsed(page_of(PLAIN))
    names = [name for name, _ in parsed.elements]
    assert names.count("main") == names.count("header") == names.count("h1") == 1
    assert parsed.all("html")[0]["lang"] == "en"
    identities = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    for section in parsed.all("section"):
        assert "aria-label" in section or section["aria-labelledby"] in identities
    log = next(one for _, one in parsed.elements if one.get("id") == "log")
    assert (log["role"], log["tabindex"]) == ("listbox", "0")
    assert log["aria-label"]
    assert all(picture["role"] == "img" and picture["aria-label"] for picture in parsed.all("svg"))


def test_bars_are_true_to_the_bytes() -> None:
    explanation = explained(long_run(60_000))
    measures = explanation["packet"]["receipt"]["measurements"]
    parsed = Parsed(render_page(explanation, {"stdout": long_run(60_000)}))
    raw, packet, brief = (int(str(one["width"])) for one in parsed.all("rect"))
    assert raw == 1000
    assert packet == measures["reduced_bytes"] * 1000 // measures["original_bytes"]
    assert 0 < brief < packet
    assert f"{measures['original_bytes']:,} B" in parsed.text


def test_an_empty_run_has_a_page() -> None:
    parsed = Parsed(page_of(b""))
    assert json.loads(parsed.scripts[0])["streams"] == [
        {"byte_count": 0, "line_count": 0, "name": "stdout", "spans": [], "text": ""}
    ]
    assert "NO_TEST_EVIDENCE" in parsed.text


def test_more_failures_than_can_be_listed_are_announced() -> None:
    count = LISTED_FAILURES + 5
    run = "".join(f"not ok {n} - gate {n}\n  ---\n  m: {n}\n  ...\n" for n in range(1, count + 1)).encode()
    run = b"TAP version 13\n" + run + f"1..{count}\n".encode()
    explanation = explained(run)
    parsed = Parsed(render_page(explanation, {"stdout": run}))
    assert "5 more are not listed here" in parsed.text
    assert len(json.loads(parsed.scripts[0])["failures"]) == count


def test_failures_that_a_ceiling_left_unnamed_are_announced() -> None:
    run = "".join(f"not ok {n} - {'gate ' * 20}{n}\n" for n in range(1, 200)).encode()
    run = b"TAP version 13\n" + run + b"1..199\n"
    text = Parsed(page_of(run, max_output_bytes=4000)).text
    assert re.search(r"[0-9]+ more are not named in the packet: lines [0-9]+ to 200\.", text)


def test_places_of_failures() -> None:
    explanation = explained(PLAIN, b"one\n")
    assert failure_places(explanation["packet"], explanation["streams"]) == [(0, 4)]
    for failure in explanation["packet"]["decision_evidence"]["failures"]:
        del failure["header"], failure["details"]
    # Then the spans say where.
    assert failure_places(explanation["packet"], explanation["streams"]) == [(0, 4)]
    for stream in explanation["streams"]:
        for span in stream["spans"]:
            span.pop("failure", None)
    assert failure_places(explanation["packet"], explanation["streams"]) == [None]


@pytest.mark.parametrize(
    "streams",
    [{}, {"stderr": PLAIN}, {"stdout": PLAIN, "stderr": b""}, {"stdout": PLAIN[:-1]}, {"stdout": b"\n" * len(PLAIN)}],
    ids=["none", "another name", "one more", "shorter", "other lines"],
)
def test_bytes_that_were_not_explained_are_refused(streams: dict[str, bytes]) -> None:
    explanation: Explanation = explained(PLAIN)
    with pytest.raises(InvalidInput, match=r"^the (streams|bytes) are not those of the explanation$"):
        render_page(explanation, streams)


@pytest.mark.parametrize(("data", "count"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)])
def test_lines_are_counted_as_the_reader_does(data: bytes, count: int) -> None:
    assert line_count(data) == count
    assert explained(data)["streams"][0]["line_count"] == count


# -- colours ----------------------------------------------------------------------------------------------------------


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as the web's accessibility guidelines count it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


TEXT_ON = [
    *(("ink", ground) for ground in ("paper", "panel", "bad-wash", "doubt-wash", "refer-wash", "chosen")),
    *(("soft", ground) for ground in ("paper", "panel", "bad-wash", "doubt-wash", "refer-wash", "chosen")),
    *(("bad", ground) for ground in ("paper", "panel", "bad-wash", "chosen")),
    *(("doubt", ground) for ground in ("paper", "panel", "doubt-wash", "chosen")),
    *(("refer", ground) for ground in ("paper", "panel", "refer-wash", "chosen")),
    *(("good", ground) for ground in ("paper", "panel")),
    *(("link", ground) for ground in ("paper", "panel")),
    ("mark-ink", "mark"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT_ON)
def test_text_can_be_read_in_both_schemes(ink: str, ground: str, scheme: str) -> None:
    sheet = _resource("page.css")
    blocks = re.findall(r":root \{([^}]+)\}", sheet)  # light, dark, print
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", blocks[scheme == "dark"]))
    assert contrast(colours[ink], colours[ground]) >= 4.5
