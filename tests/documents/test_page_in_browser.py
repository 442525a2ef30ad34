"""The page in a real browser: it opens, scrolls, jumps and filters, and stays silent. Left out by default.

python -m pytest -m browser
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import PROGRAM, Chromium
from explained_runs import EVIL_NAMES, HOSTILE, PLAIN, explained, long_run

from context_firewall.documents.page import render_page

pytestmark = [pytest.mark.browser, pytest.mark.skipif(PROGRAM is None, reason="no chromium is found")]

LONG = long_run(5_000_000)
ROWS = "[...document.querySelectorAll('#rows .row')]"
CHOSEN = "document.querySelector('#rows .chosen .text')?.textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    started = Chromium(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages on disk, by name."""
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, data, stderr in (
        ("plain", PLAIN, b"one\ntwo\n"),
        ("hostile", HOSTILE, None),
        ("long", LONG, None),
        ("empty", b"", None),
        ("wide", b"TAP version 13\n1..1\nok 1\n" + b"w" * 3_000_000 + b"\n", None),
    ):
        streams = {"stdout": data} | ({} if stderr is None else {"stderr": stderr})
        made[name] = folder / f"{name}.html"
        made[name].write_bytes(render_page(explained(data, stderr), streams))
    made["many"] = folder / "many.html"
    made["many"].write_bytes(_page_of_a_million_lines())
    return made


def _page_of_a_million_lines() -> bytes:
    """More than a browser gives height to. Made by hand: tracing so many takes its time."""
    explanation = explained(b"")
    rule = "pytest: progress signs"
    explanation["streams"] = [
        {
            "byte_count": 2_000_000,
            "line_count": 1_000_000,
            "name": "stdout",
            "spans": [
                {"dialect": "pytest", "fate": "suppressed", "first": 1, "kind": "progress", "last": 10**6, "rule": rule}
            ],
        }
    ]
    return render_page(explanation, {"stdout": b".\n" * 1_000_000})


@pytest.fixture(autouse=True)
def silence(browser: Chromium) -> Iterator[None]:
    """No page complains, and none asks for anything but itself."""
    yield
    browser.run("new Promise((done) => setTimeout(done, 50))")
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith("file:")] == []
    assert len(browser.requests) <= 1


def test_five_megabytes_open_at_once_and_scroll(browser: Chromium, pages: dict[str, Path]) -> None:
    assert browser.open(pages["long"]) < 3
    browser.run("document.getElementById('fold').click()")
    last = LONG.splitlines()[-1].decode()
    steps = browser.run("""(async () => {
      const log = document.getElementById("log"), times = [];
      for (let step = 0; step <= 100; step++) {
        const start = performance.now();
        log.scrollTop = (log.scrollHeight * step) / 100;
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b);
    })()""")
    assert steps[95] < 200
    assert browser.wait(f"{ROWS}.some((row) => row.textContent.endsWith({json.dumps(last)}))")
    assert browser.run(f"{ROWS}.length") < 200
    assert browser.run("document.querySelectorAll('*').length") < 3000


def test_a_million_lines_are_within_reach(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["many"])
    browser.run("document.getElementById('fold').click()")
    for place, line in (("log.scrollHeight", 1_000_000), ("0", 1)):
        browser.run(f"(log => {{ log.scrollTop = {place}; }})(document.getElementById('log'))")
        assert browser.wait(f"{ROWS}.some((row) => row.querySelector('.at')?.textContent === '{line}')")
    browser.run("document.getElementById('log').focus()")
    browser.press("End")
    assert browser.wait("document.querySelector('#rows .chosen .at')?.textContent === '1000000'")
    browser.press("ArrowUp")
    assert browser.wait("document.querySelector('#rows .chosen .at')?.textContent === '999999'")
    browser.run("location.hash = '#stdout:654321'")
    assert browser.wait("document.querySelector('#rows .chosen .at')?.textContent === '654321'")


def test_keys_jump_from_failure_to_failure(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["long"])
    failing = [line.decode() for line in LONG.splitlines() if line.startswith(b"not ok")]
    assert browser.run(CHOSEN) == failing[0]
    for key, expected in (("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", -1), ("j", 0)):
        browser.press(key)
        assert browser.run(CHOSEN) == failing[expected]
    current = "document.querySelector('.failures [aria-current] .place').textContent"
    assert browser.run(current).startswith("stdout ")
    browser.click('.failures [data-failure="3"]')
    assert browser.run(CHOSEN) == failing[3]
    assert "failed_test" in browser.run("document.getElementById('line').textContent")


def test_failures_with_one_region_are_all_reached(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["plain"])
    browser.click(".failures .also button")
    assert browser.run(CHOSEN) == "not ok 4 - shuts twice"


def test_filters_hide_lines(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["plain"])
    browser.click('button[data-group="kind"][data-only="unclassified"]')
    lines = f"{ROWS}.filter((row) => row.querySelector('.at')).map((row) => row.querySelector('.text').textContent)"
    assert browser.run(lines) == ["listening on 8080", "one", "two"]
    assert browser.run("document.getElementById('shown').textContent") == "3 of 19 lines"
    # The line that was selected is hidden, so none is.
    assert browser.run("document.getElementById('line').textContent").startswith("Select a line")
    browser.click("#everything")
    assert browser.run("document.getElementById('shown').textContent") == "19 lines"
    browser.click('#filters input[data-group="fate"][value="suppressed"]')
    assert "ok 1 - opens" not in browser.run(lines)
    browser.press("j")
    assert browser.run(CHOSEN) == "not ok 3 - shuts"
    browser.click("#everything")
    browser.click(".reasons button[data-kinds]")
    assert browser.run(lines) == ["listening on 8080", "one", "two"]
    # What is hidden comes back if somebody goes there.
    browser.press("j")
    assert browser.run(CHOSEN) == "not ok 3 - shuts"


def test_folds_open_and_close(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["long"])
    assert browser.run(f"{ROWS}.length") > 5
    before = browser.run("document.getElementById('space').style.height")
    browser.click("#rows .fold")
    assert browser.wait(f"document.getElementById('space').style.height !== '{before}'")
    assert browser.run(f"{ROWS}[2].querySelector('.text').textContent") == "TAP version 13"
    browser.run("document.getElementById('log').focus()")
    browser.press("Enter")
    assert browser.run("document.getElementById('space').style.height") == before


def test_search_finds_marks_and_steps(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["long"])
    browser.press("/")
    assert browser.run("document.activeElement.id") == "search"
    for letter in "PARCEL 4000 ":
        browser.press(letter)
    assert browser.wait("document.getElementById('matches').textContent === '1 of 1 line'")
    assert browser.run("document.querySelector('#rows .chosen mark').textContent") == "parcel 4000 "
    browser.press("Escape")
    assert browser.run("document.getElementById('matches').textContent") == ""
    browser.press("/")
    for letter in "[worker":
        browser.press(letter)
    assert browser.wait("/^[0-9]+ of [0-9]+ lines$/.test(document.getElementById('matches').textContent)")
    first = browser.run(CHOSEN)
    browser.press("Enter")
    assert browser.run(CHOSEN) != first
    browser.run("document.getElementById('log').focus()")
    browser.press("N")
    assert browser.run(CHOSEN) == first


def test_a_hostile_run_stays_text(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["hostile"])
    browser.run("document.getElementById('fold').click()")
    assert browser.run("window.broken") is None
    assert browser.run("document.querySelectorAll('script').length") == 2
    assert browser.run("document.querySelectorAll('img, iframe, a[href^=http]').length") == 0
    rows = browser.run(f"{ROWS}.map((row) => row.querySelector('.text').textContent)")
    assert f"not ok 1 - {EVIL_NAMES[0]}" in rows
    assert any("U+202egnp.exe" in row for row in rows)
    for number in range(len(EVIL_NAMES)):
        browser.press("j")
        browser.run(f"{number}")
    assert browser.run("document.body.textContent.includes('\\u202e')") is False


def test_text_that_was_put_into_the_page_cannot_run(browser: Chromium, pages: dict[str, Path]) -> None:
    """The page's policy holds even if its own script were wrong."""
    browser.open(pages["plain"])
    assert (
        browser.run("""(() => {
      const made = document.createElement("script");
      try { made.textContent = "window.broken = 1"; document.body.append(made); } catch { return "refused"; }
      return window.broken === 1 ? "ran" : "refused";
    })()""")
        == "refused"
    )
    browser.complaints.clear()


def test_a_very_long_line(browser: Chromium, pages: dict[str, Path]) -> None:
    assert browser.open(pages["wide"]) < 3
    browser.run("location.hash = '#stdout:4'")
    assert "2,998,000 more characters" in browser.wait(CHOSEN)
    assert browser.run("document.querySelector('#line pre').textContent.length") > 50_000


def test_an_empty_run(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["empty"])
    assert browser.run(f"{ROWS}.length") == 1
    for key in ("j", "k", "n", "N"):
        browser.press(key)


@pytest.mark.parametrize("name", ["plain", "hostile", "long", "wide"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_narrow_window_needs_no_scrolling_sideways(
    browser: Chromium, pages: dict[str, Path], name: str, dark: bool
) -> None:
    browser.open(pages[name], width=360, height=740, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") == 360


def test_it_prints_what_is_kept(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["plain"])
    browser.run("dispatchEvent(new Event('beforeprint'))")
    paper = browser.run("document.getElementById('paper').textContent")
    assert "not ok 3 - shuts" in paper
    assert "3 lines suppressed" in paper
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("document.getElementById('paper').textContent") == ""
    printed = base64.b64decode(browser.call("Page.printToPDF")["data"])
    assert printed.startswith(b"%PDF")


def test_everything_can_be_reached_with_the_keyboard(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.open(pages["plain"])
    reachable = browser.run("""[...document.querySelectorAll("button, input, a, [tabindex]")].filter(
      (one) => one.tabIndex < 0 || !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length)
    ).length""")
    assert reachable == 0
    browser.run("document.getElementById('log').focus()")
    browser.press("Home")
    browser.press("ArrowDown")
    active = browser.run("document.getElementById('log').getAttribute('aria-activedescendant')")
    assert browser.run(f"document.getElementById('{active}').getAttribute('aria-selected')") == "true"
