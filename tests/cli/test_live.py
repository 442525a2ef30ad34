"""What is shown while a run goes on: a light count, and a copy that no terminal obeys."""

import pytest

from context_firewall.cli.live import StatusLine, _Printable


@pytest.mark.parametrize(
    ("lines", "tests", "failures"),
    [
        ("ok 1 - a\nnot ok 2 - b\n    ok 1 - inner\nokay\n# not ok\n", 3, 1),
        ("✔ opens (1.2ms)\n✖ shuts (3ms)\n▶ suite\n  ✔ inner (1ms)\n", 3, 1),
        ("  ✓ opens (2 ms)\n  ✕ shuts\n   × locks\n", 3, 2),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestB/x (0.00s)\n", 2, 1),
        ("test gate::opens ... ok\ntest gate::shuts ... FAILED\ntest gate::rests ... ignored\n", 2, 1),
        ("test_a (m.T.test_a) ... ok\ntest_b (m.T.test_b) ... FAIL\ntest_c (m.T) ... ERROR\n", 3, 2),
        ("a.py::test_a PASSED [ 50%]\na.py::test_b[x y] FAILED [100%]\n", 2, 1),
        ("a.py ..F. [ 50%]\nb.py .E\n..F\n", 9, 3),
        ("3 passed in 0.1s\nDone. ok\n", 0, 0),
    ],
)
def test_results_are_counted_by_the_look_of_their_lines(lines: str, tests: int, failures: int) -> None:
    data = lines.encode()
    for size in (1, 7, len(data)):
        line = StatusLine()
        for start in range(0, len(data), size):
            line.show("stdout", data[start : start + size])
        assert (line.tests, line.failures) == (tests, failures), size


def test_the_streams_are_counted_apart() -> None:
    line = StatusLine()
    for name, chunk in (("stdout", b"ok 1"), ("stderr", b"warning\n"), ("stdout", b" - a\n")):
        line.show(name, chunk)
    assert (line.tests, line.failures) == (1, 0)


def test_the_line_comes_after_a_while_and_is_taken_away(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """RUN-11."""
    line = StatusLine()
    line.clear()
    line.tick(1.9)
    assert capsysbinary.readouterr().err == b""
    line.show("stdout", b"ok 1\nnot ok 2\n")
    line.tick(2.0)
    line.tick(125.7)
    line.clear()
    shown = capsysbinary.readouterr().err.split(b"\r\x1b[2K")
    assert shown == [b"", b"2 s, about 2 tests, 1 failed so far", b"2 min 05 s, about 2 tests, 1 failed so far", b""]


def test_no_line_is_held_whole() -> None:
    line = StatusLine()
    for _ in range(100):
        line.show("stdout", b"x" * 65_536)
    assert len(line._rest["stdout"]) <= 4096


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("plain\ntext\tof tests\n", "plain\ntext\tof tests\n"),
        ("\x1b[31mred\x1b[0m and \x1b]0;title\x07 gone\n", "red and  gone\n"),
        ("back\x08space \x00 \x9b31m bell\x07\n", "back\\x08space \\x00 \\x9b31m bell\\x07\n"),
        ("a\r\nb\n", "a\nb\n"),
        ("half\rway\n", "half\\rway\n"),
        ("é…✔\n", "é…✔\n"),
    ],
)
def test_a_copy_on_a_terminal_is_printable_however_it_is_cut(printed: str, shown: str) -> None:
    """RUN-11."""
    data = printed.encode()
    for size in (1, 2, 3, len(data)):
        printable = _Printable()
        copied = b"".join(printable.of(data[start : start + size]) for start in range(0, len(data), size))
        assert copied.decode() == shown, size
