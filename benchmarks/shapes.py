"""Test output of the shapes that are measured, made to any length: real grammar, made-up tests, the same every time.

A shape is a generator of pieces. It stops after the piece that reaches the wanted length, then closes the run with its
own plan or totals, so that each output is a whole run that ends well.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Pieces = Iterator[bytes]

SUITE = 12
"""Tests in a suite."""
SUITES = 4
"""Suites in a file's outer suite."""

FAILURE_YAML = """\
  ---
    operator: deepEqual
    expected: |-
      { id: %(n)d, total: 1340, lines: [ 'a', 'b' ] }
    actual: |-
      { id: %(n)d, total: 1339, lines: [ 'a', 'b' ] }
    at: Test.<anonymous> (/srv/app/test/pricing.test.js:%(n)d:7)
    stack: |-
      Error: should be deeply equivalent
          at Test.assert [as _assert] (/srv/app/node_modules/tape/lib/test.js:492:48)
          at Test.strictEqual (/srv/app/node_modules/tape/lib/test.js:656:7)
          at Test.<anonymous> (/srv/app/test/pricing.test.js:%(n)d:7)
          at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
  ...
"""

NODE_FAILURE_YAML = """\
  ---
  duration_ms: 1.%(n)06d
  type: 'test'
  location: '/srv/app/test/pricing.test.js:%(n)d:3'
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:

    1339 !== 1340

  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  expected: 1340
  actual: 1339
  operator: 'strictEqual'
  stack: |-
    TestContext.<anonymous> (/srv/app/test/pricing.test.js:%(n)d:12)
    Test.runInAsyncScope (node:async_hooks:206:9)
    Test.run (node:internal/test_runner/test:796:25)
    Test.start (node:internal/test_runner/test:702:17)
  ...
"""


def _until(mib: float, piece: Callable[[int], str], made: list[int]) -> Pieces:
    """Pieces 1, 2, 3 ... until their length is reached; the number of the last goes to `made`."""
    wanted, length, n = int(mib * (1 << 20)), 0, 0
    while length < wanted:
        part: list[str] = []
        for _ in range(500):
            n += 1
            part.append(piece(n))
        block = "".join(part).encode()
        length += len(block)
        yield block
    made.append(n)


def _name(n: int) -> str:
    return f"rounds the total of invoice {n} to whole cents"


def _tap(mib: float, piece: Callable[[int], str]) -> Pieces:
    made: list[int] = []
    yield b"TAP version 13\n"
    yield from _until(mib, piece, made)
    yield b"1..%d\n" % made[0]


def tap_green(mib: float) -> Pieces:
    """`ok N - name`, and the plan last."""
    return _tap(mib, lambda n: f"ok {n} - {_name(n)}\n")


def tap_undashed(mib: float) -> Pieces:
    """As tape prints it, without the dash."""
    return _tap(mib, lambda n: f"ok {n} {_name(n)}\n")


def tap_crlf(mib: float) -> Pieces:
    """Green points with CRLF."""
    return _tap(mib, lambda n: f"ok {n} - {_name(n)}\r\n")


def tap_unnumbered(mib: float) -> Pieces:
    """`ok - name`."""
    return _tap(mib, lambda n: f"ok - {_name(n)}\n")


def tap_utf8(mib: float) -> Pieces:
    """Green points with names that are not ASCII."""
    return _tap(mib, lambda n: f"ok {n} - rundet die Summe der Größe {n} — ✓\n")


def tap_directives(mib: float) -> Pieces:
    """Green points, 5 % of them skipped or still to do."""

    def piece(n: int) -> str:
        if n % 20:
            return f"ok {n} - {_name(n)}\n"
        return f"ok {n} - {_name(n)} # SKIP no printer\n" if n % 40 else f"not ok {n} - {_name(n)} # TODO rounding\n"

    return _tap(mib, piece)


def tap_failures(mib: float) -> Pieces:
    """1 % failing points with a YAML block each."""

    def piece(n: int) -> str:
        return f"ok {n} - {_name(n)}\n" if n % 100 else f"not ok {n} - {_name(n)}\n" + FAILURE_YAML % {"n": n}

    return _tap(mib, piece)


def _indented(text: str, blanks: int) -> str:
    return "".join(" " * blanks + line if line.strip() else line for line in text.splitlines(keepends=True))


def _node_test(n: int, number: int, *, failed: bool = False) -> str:
    if failed:
        return f"# Subtest: {_name(n)}\nnot ok {number} - {_name(n)}\n" + NODE_FAILURE_YAML % {"n": n}
    return (
        f"# Subtest: {_name(n)}\nok {number} - {_name(n)}\n"
        f"  ---\n  duration_ms: 0.{n % 999983:06d}\n  type: 'test'\n  ...\n"
    )


def _node_suite(number: int, name: str, body: str, children: int, *, failed: bool = False) -> str:
    result = "not ok" if failed else "ok"
    reason = "  failureType: 'subtestsFailed'\n  error: '1 subtest failed'\n  code: 'ERR_TEST_FAILURE'\n" * failed
    return (
        f"# Subtest: {name}\n{_indented(body, 4)}    1..{children}\n{result} {number} - {name}\n"
        f"  ---\n  duration_ms: 3.{number:06d}\n  type: 'suite'\n{reason}  ...\n"
    )


def _node_tap(mib: float, piece: Callable[[int], str], tests: int, suites: int, failed: Callable[[int], int]) -> Pieces:
    made: list[int] = []
    yield b"TAP version 13\n"
    yield from _until(mib, piece, made)
    n = made[0]
    bad = failed(n)
    totals = {"tests": n * tests, "suites": n * suites, "pass": n * tests - bad, "fail": bad}
    totals |= {"cancelled": 0, "skipped": 0, "todo": 0}
    yield f"1..{n}\n".encode()
    yield "".join(f"# {key} {value}\n" for key, value in totals.items()).encode()
    yield b"# duration_ms 1484.46957\n"


def _no_failures(n: int) -> int:
    return 0


def node_tap_flat(mib: float) -> Pieces:
    """Node's TAP reporter: tests without suites."""
    return _node_tap(mib, lambda n: _node_test(n, n), 1, 0, _no_failures)


def node_tap_nested(mib: float) -> Pieces:
    """Node's TAP reporter: suites of twelve tests inside outer suites of four."""

    def piece(n: int) -> str:
        inner = (
            _node_suite(s, f"currency {s}", "".join(_node_test(n * 100 + t, t) for t in range(1, SUITE + 1)), SUITE)
            for s in range(1, SUITES + 1)
        )
        return _node_suite(n, f"invoices {n}", "".join(inner), SUITES)

    return _node_tap(mib, piece, SUITE * SUITES, SUITES + 1, _no_failures)


def node_tap_failures(mib: float) -> Pieces:
    """Node's TAP reporter: suites of ten tests, one test of every hundred fails."""

    def piece(n: int) -> str:
        bad = n % 10 == 0
        tests = "".join(_node_test(n * 100 + t, t, failed=bad and t == 7) for t in range(1, 11))
        return _node_suite(n, f"invoices {n}", tests, 10, failed=bad)

    return _node_tap(mib, piece, 10, 1, lambda n: n // 10)


def _node_spec(mib: float, piece: Callable[[int], str], tests: int, suites: int) -> Pieces:
    made: list[int] = []
    yield from _until(mib, piece, made)
    n = made[0]
    totals = {"tests": n * tests, "suites": n * suites, "pass": n * tests, "fail": 0}
    totals |= {"cancelled": 0, "skipped": 0, "todo": 0}
    yield "".join(f"ℹ {key} {value}\n" for key, value in totals.items()).encode()
    yield "ℹ duration_ms 1484.46957\n".encode()


def node_spec_flat(mib: float) -> Pieces:
    """Node's spec reporter: tests without suites."""
    return _node_spec(mib, lambda n: f"✔ {_name(n)} (0.{n % 999983:06d}ms)\n", 1, 0)


def node_spec_nested(mib: float) -> Pieces:
    """Node's spec reporter: suites of twelve tests inside outer suites of four."""

    def piece(n: int) -> str:
        parts = [f"▶ invoices {n}\n"]
        for s in range(SUITES):
            parts.append(f"  ▶ currency {s}\n")
            parts += (f"    ✔ {_name(n * 100 + t)} (0.{t:06d}ms)\n" for t in range(SUITE))
            parts.append(f"  ✔ currency {s} (1.5ms)\n")
        parts.append(f"✔ invoices {n} (7.25ms)\n")
        return "".join(parts)

    return _node_spec(mib, piece, SUITE * SUITES, SUITES + 1)


def cargo_results(mib: float) -> Pieces:
    """`cargo test`: a line for each test."""
    made: list[int] = []
    tests = b"".join(_until(mib, lambda n: f"test ledger::tests::adds_up_order_{n:08d} ... ok\n", made))
    yield f"\nrunning {made[-1]} tests\n".encode()
    yield tests
    counts = f"{made[-1]} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s"
    yield f"\ntest result: ok. {counts}\n\n".encode()


def go_verbose(mib: float) -> Pieces:
    """`go test -v`: outermost tests with a line of log each."""
    test = "=== RUN   TestInvoice{n}\n    invoice_test.go:12: posted\n--- PASS: TestInvoice{n} (0.00s)\n"
    yield from _until(mib, lambda n: test.format(n=n), [])
    yield b"PASS\nok  \texample.org/invoices\t1.500s\n"


def go_subtests(mib: float) -> Pieces:
    """`go test -v`: tables of twenty subtests."""

    def piece(n: int) -> str:
        names = [f"TestInvoice{n}/currency_{s}" for s in range(20)]
        begun = "".join(f"=== RUN   {name}\n" for name in (f"TestInvoice{n}", *names))
        ended = "".join(f"    --- PASS: {name} (0.00s)\n" for name in names)
        return f"{begun}--- PASS: TestInvoice{n} (0.00s)\n{ended}"

    yield from _until(mib, piece, [])
    yield b"PASS\nok  \texample.org/invoices\t1.500s\n"


GO_TIME = '{"Time":"2026-01-02T03:04:05.678901234Z","Action":'
GO_FRAME = ',"OutputType":"frame"}\n'


def _go_events(mib: float, piece: Callable[[int], str], packages: tuple[str, ...] = ("invoices",)) -> Pieces:
    for package in packages:
        yield f'{GO_TIME}"start","Package":"example.org/{package}"}}\n'.encode()
    yield from _until(mib, piece, [])
    for package in packages:
        of = f'"Package":"example.org/{package}"'
        yield f'{GO_TIME}"output",{of},"Output":"PASS\\n"{GO_FRAME}'.encode()
        yield f'{GO_TIME}"output",{of},"Output":"ok  \\texample.org/{package}\\t1.500s\\n"{GO_FRAME}'.encode()
        yield f'{GO_TIME}"pass",{of},"Elapsed":1.5}}\n'.encode()


def _go_test_events(name: str, inside: str = "", package: str = "invoices") -> str:
    of = f'"Package":"example.org/{package}","Test":"{name}"'
    return (
        f'{GO_TIME}"run",{of}}}\n{GO_TIME}"output",{of},"Output":"=== RUN   {name}\\n"{GO_FRAME}{inside}'
        f'{GO_TIME}"output",{of},"Output":"--- PASS: {name} (0.00s)\\n"{GO_FRAME}{GO_TIME}"pass",{of},"Elapsed":0}}\n'
    )


def go_json_flat(mib: float) -> Pieces:
    """`go test -json`: outermost tests."""
    return _go_events(mib, lambda n: _go_test_events(f"TestInvoice{n}"))


def go_json_subtests(mib: float) -> Pieces:
    """`go test -json`: tables of twenty subtests, each ending before the next begins."""

    def piece(n: int) -> str:
        inside = "".join(_go_test_events(f"TestInvoice{n}/currency_{s}") for s in range(20))
        return _go_test_events(f"TestInvoice{n}", inside)

    return _go_events(mib, piece)


def go_json_turns(mib: float) -> Pieces:
    """`go test -json`: four packages at a time, whose tests take turns."""
    packages = ("invoices", "ledger", "prices", "stock")
    return _go_events(mib, lambda n: _go_test_events(f"TestOrder{n}", package=packages[n % 4]), packages)


def cargo_json(mib: float) -> Pieces:
    """The test harness with `--format json` and four threads: four tests start before the first of them ends."""
    made: list[int] = []

    def piece(n: int) -> str:
        names = [f"ledger::tests::adds_up_order_{4 * n + t:08d}" for t in range(4)]
        started = "".join(f'{{ "type": "test", "event": "started", "name": "{name}" }}\n' for name in names)
        return started + "".join(f'{{ "type": "test", "name": "{name}", "event": "ok" }}\n' for name in names)

    tests = b"".join(_until(mib, piece, made))
    total = 4 * made[-1]
    yield f'{{ "type": "suite", "event": "started", "test_count": {total} }}\n'.encode()
    yield tests
    counts = f'"passed": {total}, "failed": 0, "ignored": 0, "measured": 0, "filtered_out": 0, "exec_time": 1.5'
    yield f'{{ "type": "suite", "event": "ok", {counts} }}\n'.encode()


def _pytest(mib: float, piece: Callable[[int], str], tests: int) -> Pieces:
    made: list[int] = []
    yield (b"=" * 29) + b" test session starts " + (b"=" * 30) + b"\nplatform linux -- Python 3.12.4, pytest-8.3.2\n\n"
    yield from _until(mib, piece, made)
    title = f" {made[-1] * tests} passed in 9.00s "
    yield b"\n" + title.center(80, "=").encode() + b"\n"


def pytest_letters(mib: float) -> Pieces:
    """pytest: a row of letters for each file."""
    return _pytest(mib, lambda n: f"tests/test_{n:06d}.py {'.' * 48}  [ 50%]\n", 48)


def pytest_named(mib: float) -> Pieces:
    """pytest -v: a line for each test."""
    return _pytest(mib, lambda n: f"tests/test_pricing.py::test_price[{n:08d}] PASSED            [ 50%]\n", 1)


def unittest_named(mib: float) -> Pieces:
    """unittest -v: a line for each test."""
    made: list[int] = []
    yield from _until(mib, lambda n: f"test_price_{n:08d} (shop.test_price.Price.test_price_{n:08d}) ... ok\n", made)
    yield f"\n{'-' * 70}\nRan {made[-1]} tests in 9.000s\n\nOK\n".encode()


def rspec_outline(mib: float, head: bytes = b"") -> Pieces:
    """RSpec, documentation: a line for each example, a group for fifty."""
    made: list[int] = []
    yield head
    names = "".join(f"  adds up the invoice of customer {n:04d}\n" for n in range(50))
    yield from _until(mib, lambda n: f"\nInvoice {n:06d}\n{names}", made)
    yield b"\nFinished in 9 seconds (files took 1 second to load)\n%d examples, 0 failures\n\n" % (made[-1] * 50)


def rspec_seeded(mib: float) -> Pieces:
    """The same in random order: the first line says who prints."""
    return rspec_outline(mib, b"\nRandomized with seed 42\n")


def rspec_html(mib: float) -> Pieces:
    """RSpec, HTML: how far the run is, and a line for each example."""
    # Each example takes some 260 bytes, and the steps say how many there are from the first on.
    total = max(500, int(mib * 4000) // 500 * 500)
    yield b'  <title>RSpec results</title>\n<div class="results">\n'
    yield b'<div id="div_group_1" class="example_group passed">\n  <dl style="margin-left: 0px;">\n'
    yield b'  <dt id="example_group_1" class="passed">Invoice</dt>\n'
    script, span = '<script type="text/javascript">', "<span class='duration'>0.00012s</span>"
    for first in range(1, total + 1, 500):
        yield "".join(
            f"    {script}moveProgressBar('{int(n / total * 1000) / 10}');</script>\n"
            f'    <dd class="example passed"><span class="passed_spec_name">{_name(n)}</span>{span}</dd>\n'
            for n in range(first, first + 500)
        ).encode()
    totals = f"{script}document.getElementById('totals').innerHTML = \"{total} examples, 0 failures\";</script>"
    yield f"  </dl>\n</div>\n{totals}\n</div>\n</div>\n</body>\n</html>\n".encode()


def minitest_named(mib: float) -> Pieces:
    """minitest -v: a line for each test."""
    made: list[int] = []
    yield b"Run options: --seed 42 -v\n\n# Running:\n\n"
    yield from _until(mib, lambda n: f"PriceTest#test_price_{n:08d} = 0.00 s = .\n", made)
    yield b"\nFinished in 9.000000s, 1.0000 runs/s, 1.0000 assertions/s.\n\n"
    yield b"%d runs, %d assertions, 0 failures, 0 errors, 0 skips\n" % (made[-1], made[-1])


def phpunit_testdox(mib: float) -> Pieces:
    """PHPUnit --testdox: a line for each test."""
    made: list[int] = []
    yield b"PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\nPrice\n"
    yield from _until(mib, lambda n: f' ✔ Adds up with data set "order {n:08d}"\n', made)
    yield b"\nTime: 00:09.000, Memory: 9.00 MB\n\nOK (%d tests, %d assertions)\n" % (made[-1], made[-1])


def ctest_results(mib: float) -> Pieces:
    """CTest: two lines for each test; how many there are is said in advance."""
    pair = "    Start {n:7d}: price.{n:07d}\n{n:7d}/{all} Test {place:>8}: price.{n:07d} ....   Passed    0.00 sec\n"
    tests = int(mib * (1 << 20)) // len(pair.format(n=1, all=1000000, place="#1")) + 1
    yield b"Test project /srv/shop/build\n"
    for n in range(1, tests + 1):
        yield pair.format(n=n, all=tests, place=f"#{n}").encode()
    yield b"\n100%% tests passed, 0 tests failed out of %d\n\nTotal Test time (real) =   9.00 sec\n" % tests


JUNIT_SUITES = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    '<testsuite name="invoices" tests="{n}" failures="0" errors="0" skipped="0" time="9.1">\n'
)


def _junit(mib: float, case: Callable[[int], str]) -> Pieces:
    made: list[int] = []
    cases = b"".join(_until(mib, case, made))
    yield JUNIT_SUITES.format(n=made[-1]).encode()
    yield cases
    yield b"</testsuite>\n</testsuites>\n"


def junit_green(mib: float) -> Pieces:
    """JUnit XML: a line for each test."""
    return _junit(mib, lambda n: f'  <testcase classname="shop.Invoices" name="adds up {n:08d}" time="0.001"/>\n')


def junit_output(mib: float) -> Pieces:
    """JUnit XML: every test has printed ten lines."""
    printed = "".join(f"order {n} of the day is charged and mailed to its customer\n" for n in range(10))

    def case(n: int) -> str:
        start = f'  <testcase classname="shop.Invoices" name="adds up {n:08d}" time="0.001">\n'
        return f"{start}    <system-out>{printed}</system-out>\n  </testcase>\n"

    return _junit(mib, case)


def prove_verbose(mib: float) -> Pieces:
    """`prove -v`: one file's points."""
    made: list[int] = []
    yield b"t/invoice.t .. \n"
    yield from _until(mib, lambda n: f"ok {n + 1} - adds up the invoice of customer {n:08d}\n", made)
    times = "9 wallclock secs ( 1.00 usr +  1.00 sys =  2.00 CPU)"
    yield f"1..{made[-1]}\nok\nAll tests successful.\nFiles=1, Tests={made[-1]},  {times}\nResult: PASS\n".encode()


def ava_default(mib: float) -> Pieces:
    """ava: a line for each test."""
    made: list[int] = []
    yield b"\n"
    yield from _until(mib, lambda n: f"  ✔ invoices › adds up the invoice of customer {n:08d}\n", made)
    yield f"  ─\n\n  {made[-1]} tests passed\n".encode()


def node_tap(mib: float) -> Pieces:
    """node-tap's base reporter: a frame for each test, erased before the next."""
    made: list[int] = []
    frame = "Asserts:  {n} pass  0 fail  {n} of {n} complete\nSuites:   {s} pass  0 fail  {s} of 1 complete\n"
    moves = "\x1b[2K\x1b[1A" * 6 + "\x1b[2K\x1b[G"
    running = " RUNS  test/invoice.test.js {n} OK 748ms\n\n"
    yield f"\n{frame.format(n=0, s=0)}\n".encode()
    yield (
        b"\x1b[2K\x1b[1A" * 4 + b"\x1b[2K\x1b[G\n RUNS  test/invoice.test.js 0 OK\n\n" + frame.format(n=0, s=0).encode()
    )
    yield b"\n"
    yield from _until(mib, lambda n: f"{moves}\n{running.format(n=n)}{frame.format(n=n, s=0)}\n", made)
    last = made[-1]
    yield f"{moves}\n\n{frame.format(n=last, s=1)}\n".encode()
    yield f"# {{ total: {last}, pass: {last} }}\n# time=1619.045ms\n".encode()


def bats_pretty(mib: float) -> Pieces:
    """bats --pretty: a line for each test, with the cursor's moves."""
    made: list[int] = []
    line = "\x1b[0m\x1b[1G   adds up order {n:08d}\x1b[K\x1b[77G1/9\x1b[2G\x1b[1G ✓ adds up order {n:08d}\x1b[K\n"
    yield b"\x1b[34;1minvoice.bats\n"
    yield from _until(mib, lambda n: line.format(n=n), made)
    yield f"\x1b[0m\x1b[32;1m\n{made[-1]} tests, 0 failures\n\x1b[0m".encode()


def gotestsum_names(mib: float) -> Pieces:
    """gotestsum --format testname: a line for each test."""
    made: list[int] = []
    yield from _until(mib, lambda n: f"PASS shop/invoice.TestPrice/order_{n:08d} (0.00s)\n", made)
    yield f"PASS shop/invoice (1.2s)\n\nDONE {made[-1]} tests in 1.500s\n".encode()


def nextest(mib: float) -> Pieces:
    """cargo nextest run: a line for each test."""
    made: list[int] = []
    yield from _until(mib, lambda n: f"        PASS [   0.004s] shop invoice::adds_up_order_{n:08d}\n", made)
    yield f"────────────\n     Summary [   9.000s] {made[-1]} tests run: {made[-1]} passed, 0 skipped\n".encode()


def tap_spec(mib: float) -> Pieces:
    """tape | tap-spec: a line for each assertion, fifty in a test."""
    made: list[int] = []
    lines = "".join(f"    ✔ adds up the invoice of customer {n:04d}\n" for n in range(50))
    yield from _until(mib, lambda n: f"\n  invoices {n:06d}\n\n{lines}", made)
    total = made[-1] * 50
    yield f"\n\n  total:     {total}\n  passing:   {total}\n  duration:  1.2s\n\n\n".encode()


def tap_classic(mib: float) -> Pieces:
    """tap -R classic: a line a file, and whom it skipped."""
    made: list[int] = []
    skipped = "  Skipped: 2\n    is not there yet\n    filters by customer\n\n"
    yield from _until(mib, lambda n: f"test/invoices/customer-{n:08d}.js .................. 48/50\n{skipped}", made)
    files = made[-1]
    counts = f"{files * 48}/{files * 50}"
    yield f"total {'.' * (52 - len(counts))} {counts}\n\n  {files * 48} passing (9s)\n  {files * 2} pending\n".encode()


def teamcity(mib: float) -> Pieces:
    """Service messages, as PHPUnit writes them: two for each test."""
    made: list[int] = []
    line = "##teamcity[test{what} name='adds up order {n:08d}'{more} flowId='1']\n"
    yield b"##teamcity[testSuiteStarted name='shop' flowId='1']\n"
    yield from _until(
        mib,
        lambda n: line.format(what="Started", n=n, more="") + line.format(what="Finished", n=n, more=" duration='1'"),
        made,
    )
    yield f"##teamcity[testSuiteFinished name='shop' flowId='1']\n##teamcity[testCount count='{made[-1]}']\n".encode()


def jest_verbose(mib: float) -> Pieces:
    """jest --verbose: a file with its tree of fifty tests."""
    made: list[int] = []
    tree = "".join(f"    ✓ adds up the invoice of customer {n:04d} (1 ms)\n" for n in range(50))
    yield from _until(mib, lambda n: f"PASS lib/invoice{n:06d}.test.js\n  invoices\n{tree}\n", made)
    yield _jest_totals(made[-1], 50)


def jest_files(mib: float) -> Pieces:
    """jest: a line for each file."""
    made: list[int] = []
    yield from _until(mib, lambda n: f"PASS packages/shop/src/pricing/price{n:08d}.test.ts\n", made)
    yield b"\n" + _jest_totals(made[-1], 10)


def vitest_verbose(mib: float) -> Pieces:
    """vitest --reporter=verbose: a line for each test."""
    made: list[int] = []
    yield b"\n RUN  v4.1.12 /srv/shop\n\n"
    yield from _until(mib, lambda n: f" ✓ lib/invoice.test.ts > invoices > adds up order {n:08d} 2ms\n", made)
    yield _vitest_summary(1, made[-1])


def vitest_files(mib: float) -> Pieces:
    """vitest: a line for each file."""
    made: list[int] = []
    yield b"\n RUN  v4.1.12 /srv/shop\n\n"
    yield from _until(mib, lambda n: f" ✓ packages/shop/src/pricing/price{n:08d}.test.ts (10 tests) 12ms\n", made)
    yield _vitest_summary(made[-1], made[-1] * 10)


def mocha_tree(mib: float) -> Pieces:
    """mocha: suites of fifty tests."""
    made: list[int] = []
    tests = "".join(f"    ✔ adds up the invoice of customer {n:04d}\n" for n in range(50))
    yield b"\n\n"
    yield from _until(mib, lambda n: f"  invoices of year {n:06d}\n{tests}\n", made)
    yield f"\n  {made[-1] * 50} passing (9s)\n\n".encode()


def mocha_events(mib: float) -> Pieces:
    """mocha --reporter json-stream: an event for each test."""
    made: list[int] = []
    told = '"title":"order {n:08d}","fullTitle":"invoices order {n:08d}","file":"/srv/shop/invoice.test.js"'
    event = '["pass",{{' + told + ',"duration":0,"currentRetry":0,"speed":"fast"}}]\n'
    yield b'["start",{"total":1}]\n'
    yield from _until(mib, lambda n: event.format(n=n), made)
    yield f'["end",{{"suites":1,"tests":{made[-1]},"passes":{made[-1]},"pending":0,"failures":0}}]\n'.encode()


def mocha_doc(mib: float) -> Pieces:
    """mocha --reporter doc: suites of fifty tests, each with its code."""
    made: list[int] = []
    terms = "        <dt>adds up the invoice of customer {n:04d}</dt>\n        <dt>/srv/shop/invoice.test.js</dt>\n"
    code = "        <dd><pre><code>assert.equal(invoice(orders), 300);</code></pre></dd>\n"
    tests = "".join(terms.format(n=n) + code for n in range(50))
    head = '    <section class="suite">\n      <h1>invoices of year {n:06d}</h1>\n      <dl>\n'
    yield from _until(mib, lambda n: f"{head.format(n=n)}{tests}      </dl>\n    </section>\n", made)


def mocha_markdown(mib: float) -> Pieces:
    """mocha --reporter markdown: a suite of many tests, each with its code."""
    test = "adds up the invoice of customer {n:08d}.\n\n```js\nassert.equal(invoice(orders), 300);\n```\n\n"
    yield b'# TOC\n   - [invoices](#invoices)\n<a name=""></a>\n \n<a name="invoices"></a>\n# invoices\n'
    yield from _until(mib, lambda n: test.format(n=n), [])


def deno_results(mib: float) -> Pieces:
    """deno test: a line for each test."""
    made: list[int] = []
    yield b"running 1 test from ./invoice_test.ts\n"
    yield from _until(mib, lambda n: f"adds up the invoice of order {n:08d} ... ok (2ms)\n", made)
    yield f"\nok | {made[-1]} passed | 0 failed (9s)\n\n".encode()


MOCHA_TEST = (
    '    {{\n      "title": "order {n}",\n      "fullTitle": "invoices order {n}",\n      "err": {{}}\n    }},\n'
)
MOCHA_FAILURE = """\
    {
      "title": "order %(n)d",
      "fullTitle": "invoices order %(n)d",
      "err": {
        "stack": "AssertionError: 1339 == 1340\\n    at Context.<anonymous> (test/invoices.test.js:%(n)d:12)",
        "message": "1339 == 1340",
        "expected": "1340",
        "actual": "1339",
        "operator": "=="
      }
    },
"""


def _mocha_json(mib: float, failing: Callable[[int], bool]) -> Pieces:
    passed: list[str] = []
    failed: list[str] = []

    def piece(n: int) -> str:
        test = MOCHA_FAILURE % {"n": n} if failing(n) else MOCHA_TEST.format(n=n)
        (failed if failing(n) else passed).append(test)
        return test

    tests = b"".join(_until(mib / 2, piece, []))
    counts = f'"passes": {len(passed)},\n    "pending": 0,\n    "failures": {len(failed)}'
    yield f'{{\n  "stats": {{\n    "suites": 1,\n    "tests": {len(passed) + len(failed)},\n    {counts}\n  }}'.encode()
    for name, listed in (
        ("tests", tests),
        ("failures", "".join(failed).encode()),
        ("passes", "".join(passed).encode()),
    ):
        yield b',\n  "%b": [' % name.encode()
        yield b"\n%b\n  " % listed.removesuffix(b",\n") if listed else b""
        yield b"]"
    yield b"\n}\n"


def json_report(mib: float) -> Pieces:
    """mocha --reporter json: indented, and everything is said twice."""
    return _mocha_json(mib, lambda n: False)


def json_report_failures(mib: float) -> Pieces:
    """The same with 1 % failures."""
    return _mocha_json(mib, lambda n: n % 100 == 0)


def json_report_on_one_line(mib: float) -> Pieces:
    """jest --json: files of five tests."""

    def test(n: int) -> str:
        return (
            f'{{"ancestorTitles":["invoices","order {n}"],"duration":{n % 7},"failureDetails":[],"failureMessages":[],'
            f'"fullName":"invoices order {n} {_name(n)}","invocations":1,"location":null,"numPassingAsserts":1,'
            f'"retryReasons":[],"startAt":1767323045678,"status":"passed","title":"{_name(n)}"}}'
        )

    def piece(n: int) -> str:
        tests = ",".join(test(5 * n + t) for t in range(5))
        return (
            f'{{"assertionResults":[{tests}],"endTime":1767323045690,"message":"",'
            f'"name":"/srv/app/test/order_{n}.test.js","startTime":1767323045678,"status":"passed","summary":""}},'
        )

    made: list[int] = []
    files = b"".join(_until(mib, piece, made)).removesuffix(b",")
    suites, tests = made[-1], 5 * made[-1]
    counts = (
        f'"numFailedTestSuites":0,"numFailedTests":0,"numPassedTestSuites":{suites},"numPassedTests":{tests},'
        '"numPendingTestSuites":0,"numPendingTests":0,"numRuntimeErrorTestSuites":0,"numTodoTests":0,'
        f'"numTotalTestSuites":{suites},"numTotalTests":{tests}'
    )
    yield f'{{{counts},"openHandles":[],"startTime":1767323045000,"success":true,"testResults":['.encode()
    yield files
    yield b'],"wasInterrupted":false}\n'


def _vitest_summary(files: int, tests: int) -> bytes:
    return (
        f"\n Test Files  {files} passed ({files})\n      Tests  {tests} passed ({tests})\n"
        "   Start at  09:12:44\n   Duration  9.21s\n\n"
    ).encode()


def _jest_totals(files: int, tests: int) -> bytes:
    total = files * tests
    return (
        f"Test Suites: {files} passed, {files} total\nTests:       {total} passed, {total} total\n"
        "Snapshots:   0 total\nTime:        9 s\nRan all test suites.\n"
    ).encode()


def noise(mib: float) -> Pieces:
    """Lines that no grammar knows; all of them are kept."""
    return _until(mib, lambda n: f"2026-01-02T03:04:05Z worker {n % 8} handled request {n} in {n % 97} ms\n", [])


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape, and the share of SHA-256's throughput that it is to reach (0: none is set)."""

    name: str
    pieces: Callable[[float], Pieces]
    target: float
    exit_code: int = 0


SHAPES = (
    Shape("TAP, green", tap_green, 1 / 10),
    Shape("TAP, green, no dash", tap_undashed, 1 / 10),
    Shape("TAP, green, no numbers", tap_unnumbered, 1 / 10),
    Shape("TAP, green, not ASCII", tap_utf8, 1 / 10),
    Shape("TAP, green, CRLF", tap_crlf, 0),
    Shape("TAP, 5 % skip and todo", tap_directives, 0),
    Shape("TAP, 1 % failures", tap_failures, 1 / 40, exit_code=1),
    Shape("Node TAP, flat", node_tap_flat, 1 / 20),
    Shape("Node TAP, nested", node_tap_nested, 1 / 20),
    Shape("Node TAP, 1 % failures", node_tap_failures, 1 / 40, exit_code=1),
    Shape("Node spec, flat", node_spec_flat, 1 / 20),
    Shape("Node spec, nested", node_spec_nested, 1 / 20),
    Shape("cargo test", cargo_results, 1 / 25),
    Shape("go test -v, flat", go_verbose, 1 / 25),
    Shape("go test -v, subtests", go_subtests, 1 / 25),
    Shape("go test -json, flat", go_json_flat, 1 / 25),
    Shape("go test -json, subtests", go_json_subtests, 1 / 25),
    Shape("go test -json, four packages", go_json_turns, 1 / 25),
    Shape("cargo test, JSON", cargo_json, 1 / 25),
    Shape("pytest, letters", pytest_letters, 1 / 25),
    Shape("pytest -v", pytest_named, 1 / 25),
    Shape("unittest -v", unittest_named, 1 / 25),
    Shape("RSpec, documentation", rspec_outline, 1 / 25),
    Shape("RSpec, random order", rspec_seeded, 1 / 25),
    Shape("RSpec, HTML", rspec_html, 1 / 25),
    Shape("minitest -v", minitest_named, 1 / 25),
    Shape("PHPUnit --testdox", phpunit_testdox, 1 / 25),
    Shape("CTest", ctest_results, 1 / 25),
    Shape("JUnit XML, green", junit_green, 1 / 25),
    Shape("JUnit XML, green, with output", junit_output, 1 / 25),
    Shape("prove -v", prove_verbose, 1 / 25),
    Shape("ava", ava_default, 1 / 25),
    Shape("node-tap, base", node_tap, 1 / 25),
    Shape("bats --pretty", bats_pretty, 1 / 25),
    Shape("gotestsum, testname", gotestsum_names, 1 / 25),
    Shape("nextest", nextest, 1 / 25),
    Shape("jest --verbose", jest_verbose, 1 / 25),
    Shape("jest, files", jest_files, 1 / 25),
    Shape("vitest, verbose", vitest_verbose, 1 / 25),
    Shape("vitest, files", vitest_files, 1 / 25),
    Shape("mocha, tree", mocha_tree, 1 / 25),
    Shape("mocha, json-stream", mocha_events, 1 / 25),
    Shape("mocha, HTML", mocha_doc, 1 / 25),
    Shape("mocha, Markdown", mocha_markdown, 1 / 25),
    Shape("deno test", deno_results, 1 / 25),
    Shape("JSON report", json_report, 0),
    Shape("JSON report, 1 % failures", json_report_failures, 0, exit_code=1),
    Shape("JSON report, one line", json_report_on_one_line, 0),
    Shape("TeamCity messages", teamcity, 1 / 25),
    Shape("tap-spec", tap_spec, 1 / 25),
    Shape("tap-classic", tap_classic, 1 / 25),
    Shape("unclassified noise", noise, 0),
)
