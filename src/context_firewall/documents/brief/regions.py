"""The regions of failures in a brief: name, place, and what the run says of them, behind a fence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from context_firewall.documents.brief.commands import command_lines
from context_firewall.documents.brief.json_report import told
from context_firewall.documents.brief.runner_frames import frame
from context_firewall.documents.line_places import amount_of, lines_of, place_of
from context_firewall.documents.printable import line_text, safe

# Lines of a region that a runner repeats for orientation: counted, not shown.
CONTEXT = "failure_context"
# A title between two rulers of one sign, as pytest prints the header of a failure: `____ test_price ____`.
_RULED = re.compile(r"(?P<sign>[_=―])(?P=sign)*+ (\S(?:.*\S)?) (?P=sign)++")

FENCE = "| "

# What is shown of a long region under a ceiling: what went wrong stands at one of its ends, what was printed between.
HEAD, TAIL = 24, 16
# A few lines more cost less than to say that they are left out.
SPARED = 4

# What a header says besides the name: result word, number, glyph; duration.
_BEFORE_NAME = re.compile(r"(?:not ok\b(?: [0-9]++)?+(?: -(?= ))?+|✖|⚠|^[0-9]{1,9}+\)(?= ))\s*+")
_AFTER_NAME = re.compile(r"(?<!\s)\s*+(?:\([0-9.]++m?s\)|# time=[0-9.]++m?s)?+(?: \{)?+$")
# TAP's mark of a test that is not done yet, at the end of a name.
_NOT_DONE = re.compile(r"# TODO\b")
# minitest says of what sort a failure is, and below it the name once more, with the place: `  1) Failure:`.
_SORT = re.compile(r" *+[0-9]++\) (?P<sort>Failure|Error):")
# A member of an indented JSON report: `"fullTitle": "lends books",`.
_MEMBER = re.compile(r'"[A-Za-z_]++": "(?P<name>.*)",?')
# What Test::More says of a failing point, before anything else.
_SAID = re.compile(r"#   Failed test '(?P<name>.*)'")
_ESCAPED = re.compile(r"\\(?=[#\\])")

# pytest's error line, and the start of its line that says where: `E   boom`, then `lib/price.py:7: boom`.
_ERROR = re.compile(r"E ++(\S.*)")
_WHERE = re.compile(r"\S.*:[0-9]++: ")
# pytest's marks before a failing statement and before what is wrong with it, and the title of what the test printed.
_MARKED = re.compile(r"(?P<mark>[>E])(?P<margin> ++)(?=\S)")
_PRINTED = re.compile(r"-++ Captured \S++ \S++ -++")


def name_lines(number: int, failure: Mapping[str, Any]) -> str:
    """The line of a failure, and those of the failures that share its region."""
    others = "".join(f"\n   also {safe(one['identity'])} [line {one['line']}]" for one in failure.get("also", ()))
    return f"{number}) {safe(failure['identity'])}{place_of(lines_of(failure)) or ' [-]'}{others}"


def regions(failures: Sequence[Mapping[str, Any]], said: Mapping[int, Sequence[str]]) -> Iterator[list[str]]:
    """The lines of each failure's region; one that reads like an earlier one only says so.

    `said` is what regions in XML or HTML say, by position.
    """
    seen: dict[tuple[str, ...], int] = {}
    decoded = told(failures)
    for number, failure in enumerate(failures, 1):
        at = number - 1
        region = tuple(_told(failure, decoded[at]) if at in decoded else _region(failure, said.get(at)))
        earlier = seen.setdefault(region, number) if len(region) > 1 else number
        yield list(region) if earlier == number else [f"   same text as {earlier})"]


def shortened(region: list[str]) -> list[str]:
    """A long region with its first lines and its last; any other as it is."""
    hidden = len(region) - HEAD - TAIL
    if hidden <= SPARED:
        return region
    return [*region[:HEAD], f"~ {hidden} lines of this region, not shown", *region[-TAIL:]]


def context_lines(failure: Mapping[str, Any]) -> int:
    """How many lines of a region are there for orientation only."""
    return sum(1 for line in failure.get("details", ()) if "text" in line and line["category"] == CONTEXT)


def _region(failure: Mapping[str, Any], said: Sequence[str] | None) -> Iterator[str]:
    """The lines of a region; `said` is what it says, if it is told in another way than as it stands."""
    failure = _unnamed(failure)
    texts = [line["text"] for line in failure.get("details", ()) if "text" in line and line["category"] != CONTEXT]
    header, spoken = failure.get("header"), _spoken(failure) if said is None else said
    above = "" if header is None or spoken is not None else header.get("text", "")
    lines = dedented([line_text(text) for text in (texts if spoken is None else spoken)], above)
    if header is not None and "text" in header and spoken is None:
        text, name = header["text"], failure["identity"]
        text, lines = _sorted(text, safe(name), lines)
        if not says_only_the_name(text, name) and not _sums_up(line_text(text).strip(), safe(name), lines):
            yield FENCE + _unruled(line_text(text).strip())
        if lines and _SAID.fullmatch(lines[0]) and says_only_the_name(lines[0], name):
            del lines[0]
    yield from _folded(list(_said_once(_drawn_in(lines))))
    hidden = [line for line in lines_of(failure) if "text" not in line]
    if hidden:
        yield f"   not shown: {amount_of(hidden)}{place_of(hidden)}"


def _unnamed(failure: Mapping[str, Any]) -> Mapping[str, Any]:
    """A failure of one run of several, without the run's name before its identity and before each of its lines."""
    name, arrow, identity = failure["identity"].partition(" > ")
    shown = [line for line in (failure.get("header", {}), *failure.get("details", ())) if "text" in line]
    prefix = f"{name}: "
    if not arrow or not shown or not all(line["text"].startswith(prefix) for line in shown):
        return failure

    def without(line: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**line, "text": line["text"].removeprefix(prefix)} if "text" in line else line

    parts: dict[str, Any] = {"identity": identity, "details": [without(line) for line in failure.get("details", ())]}
    if "header" in failure:
        parts["header"] = without(failure["header"])
    return {**failure, **parts}


def is_decoded(failure: Mapping[str, Any]) -> bool:
    """Whether a region is one of commands to a CI system, which is not shown as it stands."""
    return command_lines(failure.get("header", {}).get("text", ""), "") is not None


def _spoken(failure: Mapping[str, Any]) -> list[str] | None:
    """What a region says that begins with a command to a CI system; None for any other."""
    identity = failure["identity"]
    first = command_lines(failure.get("header", {}).get("text", ""), identity)
    if first is None:
        return None
    for line in failure.get("details", ()):
        text = line.get("text", "")
        # One that says nothing stands as it is: it may end a test, or begin one.
        first += command_lines(text, identity) or [text]
    return first


def _told(failure: Mapping[str, Any], texts: Sequence[str]) -> Iterator[str]:
    """What a JSON report on one line says of a failure; where the line stands, how much of it there is."""
    yield from _folded(dedented([line_text(text) for text in texts]))
    header = failure.get("header")
    if header is not None:
        yield f"~ a JSON report on one line, {len(header['text'].encode())} bytes, not shown"


def says_only_the_name(header: str, identity: str) -> bool:
    """Whether a header holds nothing that its failure's identity does not say, save result, number and duration.

    It may be one end of the identity, as the first of several titles is. A test that failed though it is marked as not
    done yet keeps its header: it shows that the run called it failed.
    """
    if _NOT_DONE.search(header):
        return False
    ruled = _unruled(line_text(header).strip())
    text = _AFTER_NAME.sub("", _BEFORE_NAME.sub("", ruled, count=1))
    named = _MEMBER.fullmatch(text) or _SAID.fullmatch(text)
    text = text if named is None else named["name"]
    words, name = " ".join(_ESCAPED.sub("", text).split()), " ".join(safe(identity).split())
    if bool(words) and (name == words or name.endswith(f" > {words}")):
        return True
    if name == ruled or name.startswith(f"{words} ") or name == words.removesuffix(":"):
        return True
    return ruled != header.strip() and f".{name.replace('::', '.')}".endswith(f".{words.replace('::', '.')}")


def _sorted(header: str, name: str, lines: list[str]) -> tuple[str, list[str]]:
    """Header and region, without the name that minitest repeats between them: `Failure [test/price.rb:9]:`."""
    found = _SORT.fullmatch(line_text(header))
    if found is None or not lines or not lines[0].startswith((f"{name}:", f"{name} [")):
        return header, lines
    return found["sort"] + lines[0].removeprefix(name), lines[1:]


def _sums_up(header: str, name: str, lines: Sequence[str]) -> bool:
    """Whether a header is pytest's summary of what the region says in full: `FAILED name - message`, perhaps cut."""
    summary = f"FAILED {name}"
    if not header.startswith(f"{summary} - "):
        return header == summary
    message = header.removeprefix(f"{summary} - ").removesuffix("...")
    return bool(message) and any(message in line for line in lines)


def _said_once(lines: Sequence[str]) -> Iterator[str]:
    """Lines without those whose message the next one gives whole, after the place."""
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        error = _ERROR.fullmatch(line)
        place = following.removesuffix(f" {error[1]}") if error else following
        if place == following or not _WHERE.fullmatch(f"{place} "):
            yield line


def _drawn_in(lines: list[str]) -> list[str]:
    """Lines without the indentation that all of pytest's share behind its marks, but for one blank."""
    if not any(_WHERE.match(line) for line in lines):
        return lines
    end = next((n for n, line in enumerate(lines) if _PRINTED.fullmatch(line)), len(lines))
    marked = [_MARKED.match(line) for line in lines[:end]]
    margin = min((len(found["margin"]) for found in marked if found), default=1)
    drawn = [line if found is None else line[:1] + line[margin:] for line, found in zip(lines, marked, strict=False)]
    return drawn + lines[end:]


def _unruled(text: str) -> str:
    """A title without the ruler on both sides of it."""
    found = _RULED.fullmatch(text)
    return text if found is None else found[2]


def dedented(texts: Sequence[str], above: str = "") -> list[str]:
    """Lines without what all of them start with for the format's sake: indentation, and TAP's comment sign.

    A YAML block's own `---` and `...` around all the rest go too. Test::More's comments keep their sign: it stands
    inside the values that they quote. `above` is the region's header, which may be the first of them.
    """
    texts = _without_margin(texts)
    if len(texts) > 2 and texts[0] == "---" and texts[-1] == "...":
        texts = _without_margin(texts[1:-1])
    comments = all(text.startswith("# ") or text in ("", "#") for text in texts)
    if texts and comments and not any(text.lstrip().startswith("#   Failed") for text in (above, texts[0])):
        texts = _without_margin([text[1:] for text in texts])
    return texts


def _without_margin(texts: Sequence[str]) -> list[str]:
    margin = min((len(text) - len(text.lstrip(" ")) for text in texts if text.strip()), default=0)
    return [text[margin:] if text.strip() else "" for text in texts]


def _folded(texts: Sequence[str]) -> Iterator[str]:
    """Fenced lines; a row of the runner's own frames becomes one counted line of ours."""
    frames = place = 0
    while place < len(texts):
        taken = frame(texts, place)
        if taken:
            frames += 1
            place += taken
            continue
        if frames:
            yield _counted(frames)
            frames = 0
        yield fenced(texts[place])
        place += 1
    if frames:
        yield _counted(frames)


def fenced(text: str) -> str:
    return FENCE + text if text.strip() else FENCE.rstrip()


def _counted(frames: int) -> str:
    return f"~ {frames} runner {'frame' if frames == 1 else 'frames'}"
