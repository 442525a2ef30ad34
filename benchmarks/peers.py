"""What a model gets to read of the same test runs: behind this project, behind others, and behind plain filters.

python benchmarks/peers.py [--suite TEXT] [--tool TEXT] [--rows] [--starts] [--json]

Each suite below `suites/` runs by itself, and once more behind each tool that is found on the path: a wrapper runs the
test command in its own way, a filter reads what the command prints. What failed is known from the runner's own report.
`reading.py` marks what comes out. Nothing is kept from one run to the next: folder and home are new for each.
"""

import argparse
import json
import os
import re
import resource
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from reading import FACT, Failure, Marks, Says, Status, marks

import context_firewall

HERE = Path(__file__).resolve().parent
SUITES = HERE / "suites"
LIMIT_SECONDS = 300
STARTS = 20


class Desk(NamedTuple):
    """Where a suite runs: its folder, and what its commands find around them."""

    folder: Path
    environment: dict[str, str]

    def run(self, line: str, **more: str) -> tuple[bytes, int]:
        """What a line of shell prints on both channels, and its exit status: 128 + n for signal n, 124 if it hangs."""
        child = subprocess.Popen(
            ["/bin/sh", "-c", line],
            cwd=self.folder,
            env=self.environment | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed, _ = child.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return child.communicate()[0], 124
        return printed, child.returncode if child.returncode >= 0 else 128 - child.returncode


def desk(place: Path, suite: Path | None = None) -> Desk:
    """A new desk, always at the same path below `place`, with our command and this interpreter's on its path."""
    shutil.rmtree(place, ignore_errors=True)
    for name in ("home", "bin"):
        (place / name).mkdir(parents=True)
    if suite is None:
        (place / "suite").mkdir()
    else:
        shutil.copytree(suite, place / "suite", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    ours = place / "bin" / "context-firewall"
    source = shlex.quote(str(Path(context_firewall.__file__).parents[1]))
    ours.write_text(f'#!/bin/sh\nPYTHONPATH={source} exec {shlex.quote(sys.executable)} -m context_firewall "$@"\n')
    ours.chmod(0o755)
    path = (str(place / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])
    environment = {"PATH": os.pathsep.join(path), "HOME": str(place / "home"), "LC_ALL": "C.UTF-8", "DO_NOT_TRACK": "1"}
    return Desk(place / "suite", environment)


# -- what failed, by the runner's own report --------------------------------------------------------------------------


def failure(name: str, message: str, at: Desk) -> Failure:
    """A failure; of a name that is a path, what a report for people shows of it. No fact is where the desk stands."""
    facts = FACT.findall(message.replace(str(at.folder), ""))
    return Failure(Path(name).name if name.startswith("/") else name, frozenset(facts))


def junit(report: str, at: Desk) -> list[Failure]:
    """The failures of a JUnit report; pytest's message of a file that does not load is in the lines marked `E`."""
    found = []
    for case in ET.fromstring(report).iter("testcase"):  # noqa: S314 - written by a runner about our own suites
        for bad in (*case.findall("failure"), *case.findall("error")):
            marked = re.findall(r"^E .*", bad.text or "", re.MULTILINE)
            found.append(failure(case.get("name", ""), "\n".join([bad.get("message", ""), *marked]), at))
    return found


def pytest_failures(at: Desk) -> list[Failure]:
    """What pytest says in XML; a suite that dies for want of memory is given enough."""
    at.run("pytest --junitxml=report.xml", ENOUGH_MEMORY="1")
    return junit((at.folder / "report.xml").read_text(encoding="utf-8"), at)


UNITTEST_REPORT = """
import io, json, unittest
run = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.discover("."))
print("\\n" + json.dumps([(test.id(), text) for test, text in run.failures + run.errors]))
"""


def unittest_failures(at: Desk) -> list[Failure]:
    """What unittest has in its result; of a traceback, the lines at the margin are the message."""
    printed, _ = at.run(f"python3 -c {shlex.quote(UNITTEST_REPORT)}")
    bad = json.loads(printed.decode().splitlines()[-1])
    return [failure(name.rpartition(".")[2], "\n".join(re.findall(r"(?m)^\S.*", text)), at) for name, text in bad]


def node_failures(at: Desk) -> list[Failure]:
    """What Node says in XML."""
    printed, _ = at.run("node --test --test-reporter=junit 2>/dev/null")
    return junit(printed.decode(), at)


class Runner(NamedTuple):
    """A test runner: its command, the line that prints its version, and its own report."""

    command: str
    version: str
    failures: Callable[[Desk], list[Failure]]


RUNNERS = {
    "pytest": Runner("pytest", "pytest --version", pytest_failures),
    "unittest": Runner("python3 -m unittest discover", "python3 --version", unittest_failures),
    "node": Runner("node --test --test-reporter=tap", "node --version", node_failures),
}

# -- the tools --------------------------------------------------------------------------------------------------------

HEADROOM = """
import sys; from headroom import compress
call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
asked = [{"role": "user", "content": "run the tests"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
printed = {"role": "tool", "tool_call_id": "1", "content": sys.stdin.read()}
print(compress([*asked, printed], model="gpt-4o").messages[-1]["content"])
"""
HEADROOM_LINE = f"""
{{command}} >output 2>&1; status=$?
"$(dirname "$(command -v headroom)")/python3" -c {shlex.quote(HEADROOM)} <output 2>/dev/null; exit $status
"""
RECEPTOR = "import importlib.metadata as m; print(m.version('pytest-receptor'))"


class Tool(NamedTuple):
    """A way to run a test command: a line of shell; one that prints the version and fails where the tool is missing."""

    name: str
    line: str
    version: str = "true"
    runners: frozenset[str] = frozenset(RUNNERS)
    wraps_any: bool = False
    """Whether it stands before any command, so that its start can be timed."""

    def around(self, command: str) -> str:
        """The line of shell for a test command; a single one replaces the shell, which then adds no word of its own."""
        line = self.line.replace("{command}", command)
        return line if set(line) & set("|;") else f"exec {line}"


RAW = Tool("the runner alone", "{command}")
TOOLS = (
    RAW,
    Tool("tail -n 30", "{command} 2>&1 | tail -n 30"),
    Tool("grep -iE 'fail|error'", "{command} 2>&1 | grep -iE 'fail|error'"),
    Tool("pytest -q --tb=short", "{command} -q --tb=short", runners=frozenset({"pytest"})),
    Tool("pytest -q --tb=line", "{command} -q --tb=line", runners=frozenset({"pytest"})),
    Tool("Node's spec reporter", "node --test --test-reporter=spec", runners=frozenset({"node"})),
    Tool("Node's dot reporter", "node --test --test-reporter=dot", runners=frozenset({"node"})),
    Tool("pytest-receptor", "{command} --receptor=llm", f'python3 -c "{RECEPTOR}"', frozenset({"pytest"})),
    Tool("rtk", "rtk {command}", "rtk --version", frozenset({"pytest"})),
    Tool("rtk test", "rtk test {command}", "rtk --version", frozenset({"unittest", "node"}), wraps_any=True),
    Tool("szr", "szr {command}", "szr --version", wraps_any=True),
    Tool("kompactor run", "kompactor run {command}", "kompactor --version", wraps_any=True),
    Tool("headroom compress", HEADROOM_LINE, "headroom --version"),
    Tool("context-firewall, brief", "context-firewall run -- {command}", "context-firewall --version", wraps_any=True),
    Tool("context-firewall, packet", "context-firewall run --emit packet -- {command}", "context-firewall --version"),
)


class Row(NamedTuple):
    """One suite behind one tool."""

    runner: str
    suite: str
    tool: str
    marks: Marks


def measured(suite: Path, place: Path, tools: Iterable[Tool]) -> Iterator[Row]:
    """The rows of one suite. The folder that it is in names its runner."""
    runner = RUNNERS[suite.parent.name]
    failures = runner.failures(desk(place, suite))
    raw, status = desk(place, suite).run(RAW.around(runner.command))
    for tool in tools:
        if suite.parent.name in tool.runners:
            output = desk(place, suite).run(tool.around(runner.command))
            yield Row(suite.parent.name, suite.name, tool.name, marks(*output, failures, raw, status))


def versions(at: Desk, lines: Mapping[str, str]) -> dict[str, str]:
    """Of what has a line of shell that prints its version: what is there, and in which version."""
    printed = {name: at.run(line) for name, line in lines.items()}
    return {name: " ".join(text.decode().split()[-1:]) for name, (text, status) in printed.items() if status == 0}


def processor_seconds() -> float:
    """What all processes that this one has started and waited for have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def starts(at: Desk, tools: Iterable[Tool]) -> dict[str, float]:
    """What each takes to run `true`, over `true` alone: medians of processor time, in milliseconds, taken in turns."""
    lines = {"": "true"} | {tool.name: tool.around("true") for tool in tools}
    took: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(STARTS + 1):
        for name, line in lines.items():
            before = processor_seconds()
            at.run(line)
            took[name].append((processor_seconds() - before) * 1000)
    median = {name: statistics.median(times[1:]) for name, times in took.items()}
    return {name: median[name] - median[""] for name in lines if name}


# -- the tables -------------------------------------------------------------------------------------------------------


def table(head: tuple[str, ...], lines: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """A table in Markdown; all but the first column are set to the right."""
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'--:|' * (len(head) - 1)}"
    for line in lines:
        cells = (str(cell).replace("|", "\\|") for cell in line)
        yield f"| {' | '.join(cells)} |"


def of(part: int, whole: int) -> str:
    """A share, in numbers."""
    return f"{part:,} of {whole:,}"


def summary(rows: list[Row]) -> Iterator[tuple[object, ...]]:
    """A line for each tool: all suites of one runner together."""
    for tool in dict.fromkeys(row.tool for row in rows):
        found = [row.marks for row in rows if row.tool == tool]
        bad, good = [m for m in found if m.failed], [m for m in found if not m.failed]
        yield (
            tool,
            f"{sum(m.size for m in found):,}",
            f"{statistics.median(m.size for m in found):,.0f}",
            of(sum(m.named for m in bad), sum(m.failures for m in bad)),
            of(sum(m.shown for m in bad), sum(m.facts for m in bad)),
            of(sum(m.hidden for m in bad), len(bad)),
            of(sum(m.says == Says.GREEN for m in good), len(good)),
            of(sum(m.status == Status.KEPT for m in found), len(found)),
        )


SUMMARY = ("tool", "bytes", "median", "named", "facts shown", "failed runs hidden", "green said", "status kept")
EACH = ("tool", "bytes", "named", "facts shown", "says", "hidden", "exit status")


def each(rows: list[Row]) -> Iterator[tuple[object, ...]]:
    """A line for each tool, of one suite."""
    for row in rows:
        m = row.marks
        named, shown = of(m.named, m.failures), of(m.shown, m.facts)
        yield row.tool, f"{m.size:,}", named, shown, m.says, "yes" if m.hidden else "no", m.status


def report(rows: list[Row], *, whole: bool) -> Iterator[str]:
    """The summary of each runner, and, if the whole is wanted, a table for each suite."""
    for runner in dict.fromkeys(row.runner for row in rows):
        own = [row for row in rows if row.runner == runner]
        suites = list(dict.fromkeys(row.suite for row in own))
        yield f"\n## {runner}: {', '.join(suites)}\n"
        yield from table(SUMMARY, summary(own))
        for suite in suites if whole else ():
            yield f"\n### {runner}, {suite}\n"
            yield from table(EACH, each([row for row in own if row.suite == suite]))


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description="The same test runs behind this project and behind others.")
    options.add_argument("--suite", default="", metavar="TEXT", help="only suites with this in RUNNER/SUITE")
    options.add_argument("--tool", default="", metavar="TEXT", help="only tools with this in their name")
    options.add_argument("--rows", action="store_true", help="also print a table for each suite")
    options.add_argument("--starts", action="store_true", help="print what wrappers take to start, and nothing else")
    options.add_argument("--json", action="store_true", help="print every row as JSON")
    given = options.parse_args()
    suites = [path for path in sorted(SUITES.glob("*/*")) if given.suite in path.relative_to(SUITES).as_posix()]
    tools = [tool for tool in TOOLS if given.tool in tool.name]
    if given.starts:
        tools = [tool for tool in tools if tool.wraps_any]
    if not (suites and tools):
        options.error("no such suite or no such tool; the suites are the folders below benchmarks/suites/*/")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "desk"
        wanted = {path.parent.name: RUNNERS[path.parent.name].version for path in suites}
        there = versions(desk(place), wanted | {tool.name: tool.version for tool in tools})
        print("; ".join(f"{name} {version}".strip() for name, version in there.items()), file=sys.stderr)
        tools = [tool for tool in tools if tool.name in there]
        if given.starts:
            lines = ((name, f"{ms:.0f}") for name, ms in starts(desk(place), tools).items())
            print("\n".join(table(("tool", "ms of processor time"), lines)))
            return
        rows: list[Row] = []
        for suite in suites:
            if suite.parent.name in there:
                print(f"{suite.parent.name}/{suite.name}", file=sys.stderr)
                rows += measured(suite, place, tools)
    if given.json:
        print(json.dumps([{**row._asdict(), "marks": row.marks._asdict()} for row in rows], indent=1))
    else:
        print("\n".join(report(rows, whole=given.rows)))


if __name__ == "__main__":
    main()
