"""What stands around a test runner's report and is neither its own nor the tests': the words of the programs that ran
it, and of those that measured its coverage.

Each line has a form of its own, or stands right below one that has. What a program says before and after a run is
`informational`. That a command failed is shown as a warning, without a doubt, if the run itself says that it did; it
may have been another command. If the run does not say so, such a line is the only witness and stays unclassified.

Sources: the output of npm 6-11, pnpm 9-11, yarn 1, bun 1, GNU make 4, tox 4, nox, nx 22, lerna 9, turbo 2, uv, bash's
`time`, coverage.py 7, and Istanbul's text report (nyc, c8).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bares


class Form(NamedTuple):
    """A line by its form."""

    pattern: bytes
    below: frozenset[str] = frozenset()
    """Forms of which one must stand right above, blank lines aside."""
    after: str = ""
    """A form that must stand somewhere above."""
    fails: bool = False
    """It says that the command failed."""


def _below(pattern: bytes, *names: str) -> Form:
    return Form(pattern, below=frozenset(names))


def _fails(pattern: bytes, *names: str) -> Form:
    return Form(pattern, below=frozenset(names), fails=True)


_SECONDS = rb"[0-9.]++(?:ms|s)"
_COUNTS = rb"(?: {2,}+[0-9]++(?![.%])){2,4}+ {2,}+[0-9.]++%[^\n]*+"

_NX = rb" (?:NX|Lerna \(powered by Nx\)) {3}"

FORMS: dict[str, Form] = {
    # npm. Its banner (`> shop@1.0.0 test`) is read where lines are read.
    "npm_notice": Form(rb"npm notice(?: [^\n]*+)?"),
    "npm_failed": _fails(rb"npm (?:ERR!|error) Test failed\.  See above for more details\."),
    "npm_script": _fails(rb"npm (?:ERR!|error) Lifecycle script `[^`\n]++` failed with error:"),
    "npm_more": _fails(
        rb"npm (?:ERR!|error) (?:code|errno|path|workspace|location|command) [^\n]++", "npm_script", "npm_more"
    ),
    # pnpm writes thin spaces around its code.
    "pnpm_failed": _fails(
        rb"(?:(?:\xe2\x80\x89| )ELIFECYCLE(?:\xe2\x80\x89| )|\[ELIFECYCLE\]) "
        rb"(?:Test failed\. See above for more details\.|Command failed(?: with (?:exit code|signal) [A-Z0-9]++)?\.)"
    ),
    "pnpm_scope": Form(rb"Scope: (?:all )?[0-9]++ (?:of [0-9]++ )?workspace projects"),
    "pnpm_recursive": _fails(rb"(?:Error: |\xe2\x80\x89| )ERR_PNPM_RECURSIVE_[A-Z_]++(?:(?:\xe2\x80\x89| ) [^\n]++)?"),
    "pnpm_recursive_more": _fails(
        rb"  \xc3\x97 \"pnpm recursive [a-z]++\" failed in [^\n]++|Exit status [0-9]++", "pnpm_recursive"
    ),
    # turbo: what it is about to do, and what came of it.
    "turbo": Form(rb"   \xe2\x80\xa2 (?:Packages in scope: |Running |Remote caching )[^\n]++"),
    "turbo_done": Form(rb" Tasks: {4}(?P<turbo_tasks>[0-9]++) successful, (?P=turbo_tasks) total"),
    "turbo_more": _below(
        rb"Cached: {4}[0-9]++ cached, [0-9]++ total|  Time: {4}[0-9][^\n]++", "turbo_done", "turbo_short", "turbo_more"
    ),
    "turbo_short": _fails(rb" Tasks: {4}[0-9]++ successful, [0-9]++ total"),
    "turbo_failed": _fails(
        rb"[^\s#]++#[^\s:]++: {2}ERROR {2}command \([^\n]++| ERROR {2}run failed: command {2}exited \([0-9]++\)"
        rb"|Failed: {4}[^\n]++|ERROR: command finished with error: [^\n]++"
    ),
    "yarn": Form(rb"yarn run v[0-9.]++"),
    "yarn_command": _below(rb"\$ [^\n]++", "yarn"),
    "yarn_done": Form(rb"Done in [0-9.]++s\.", after="yarn"),
    "yarn_failed": _fails(rb"error Command failed with (?:exit code [0-9]++|signal \"[A-Z0-9]++\")\."),
    "yarn_help": Form(
        rb"info Visit https://yarnpkg\.com/en/docs/cli/run for documentation about this command\.", after="yarn"
    ),
    "make": Form(rb"g?make(?:\[[0-9]++\])?: (?:Entering|Leaving) directory '[^'\n]++'"),
    "make_failed": _fails(rb"g?make(?:\[[0-9]++\])?: \*\*\* \[[^\]\n]++\] Error [0-9]++"),
    "make_gave_up": _fails(
        rb"g?make(?:\[[0-9]++\])?: (?:Target '[^'\n]++' not remade because of errors\."
        rb"|\*\*\* Waiting for unfinished jobs\.\.\.\.)",
        "make_failed",
        "make_gave_up",
    ),
    "tox": Form(
        rb"[^\s:]++: (?:commands(?:_pre|_post)?\[[0-9]++\]|install_(?:deps|package|package_deps|requires\w*+)|freeze"
        rb"|_exit|_optional_hooks|(?:get_requires_for_|prepare_metadata_for_)?+build_\w++)> [^\n]++"
    ),
    "tox_passed": Form(
        rb"  [^\s:]++: (?:OK|SKIP)(?: \([0-9.]++(?:=[^\s)]++)? seconds\)| \S++ in [0-9.]++ seconds)"
        rb"|  congratulations :\) \([0-9.]++ seconds\)"
    ),
    "tox_exit": _fails(rb"[^\s:]++: exit [0-9]++ \([0-9.]++ seconds\) [^\n]*> [^\n]*+"),
    "tox_failed": _fails(
        rb"  [^\s:]++: FAIL(?: code [0-9]++ \([0-9.]++(?:=[^\s)]++)? seconds\)| \S++ in [0-9.]++ seconds)"
        rb"|  evaluation failed :\( \([0-9.]++ seconds\)"
    ),
    # nox logs with its name; the command lines among its log are those that do not begin like a sentence.
    "nox": Form(
        rb"nox > (?:Running session [^\n]++|(?:Creating|Re-?using existing) virtual environment [^\n]++"
        rb"|Session [^\n]*? was successful(?: in [^\n]*)?\.|Ran multiple sessions:|\* [^\n]*?: success(?:, [^\n]++)?"
        rb"|[a-z/.][^\n]*+)"
    ),
    "nox_failed": _fails(
        rb"nox > (?:Command [^\n]*? failed with exit code [0-9]++|Session [^\n]*? failed(?: in [^\n]*)?\."
        rb"|\* [^\n]*?: failed)"
    ),
    "just_failed": _fails(rb"error: [Rr]ecipe `[^`\n]++` failed (?:on line [0-9]++ )?with exit code [0-9]++"),
    "bun_failed": _fails(rb"error: script \"[^\"\n]++\" exited with code [0-9]++"),
    # nx, and lerna by it: what it runs for which projects, each task's name above what it prints, what came of it.
    "nx": Form(rb" NX {3}Running targets? [^\n]++(?<! failed)"),
    "nx_item": _below(rb"- [^\s:]++", "nx", "lerna", "nx_item"),
    "nx_task": Form(rb"> nx run [^\s:]++:\S++(?: {2}\[[^\]\n]++\])?"),
    "lerna_task": Form(rb"> [^\s:@]++:\S++(?: {2}\[[^\]\n]++\])?", after="lerna"),
    "nx_done": Form(_NX + rb"Successfully ran targets? [^\n]++"),
    "nx_cache": _below(
        rb"Nx read the output from the cache instead of running the command for [0-9]++ out of [0-9]++ tasks\.",
        "nx_done",
    ),
    "nx_failed": _fails(_NX + rb"Running targets? [^\n]++(?<= failed)"),
    "nx_failed_more": _fails(rb"Failed tasks:|- [^\s:]++:\S++", "nx_failed", "nx_failed_more"),
    "lerna": Form(rb" Lerna \(powered by Nx\) {3}Running targets? [^\n]++(?<! failed)"),
    "lerna_says": Form(rb"lerna (?:notice|info|success) [^\n]++"),
    # deno's command, where the reporter is not its own.
    "deno_failed": _fails(rb"error: Test failed"),
    "uv": Form(
        rb"Using CPython [0-9][^\n]*+|Creating virtual environment at: [^\n]++"
        rb"|(?:Resolved|Prepared|Installed|Uninstalled|Audited) [0-9]++ packages? in " + _SECONDS
    ),
    "uv_package": _below(rb" [-+~] [^\s=]++==[^\n]++", "uv", "uv_package"),
    "time": Form(rb"real\t[0-9]++m[0-9.]++s"),
    "time_more": _below(rb"(?:user|sys)\t[0-9]++m[0-9.]++s", "time", "time_more"),
    # coverage.py: a heading, then rows between two rules, and the total.
    "coverage": Form(rb"Name {2,}+Stmts {2,}+Miss(?: Branch BrPart)? {2,}+Cover(?: {2,}+Missing)?"),
    "coverage_rule": _below(rb"-{20,}+", "coverage", "coverage_row"),
    "coverage_row": _below(rb"\S++(?: \S++)*+" + _COUNTS, "coverage_rule", "coverage_row"),
    "coverage_more": _below(
        rb"[0-9]++ (?:empty )?files? skipped(?: due to complete coverage)?\.",
        "coverage_row",
        "coverage_rule",
        "coverage_more",
    ),
    # Istanbul: columns between bars; the rule comes first.
    "istanbul_rule": Form(rb"-++(?:\|-++){5}"),
    "istanbul_summary": Form(rb"=++ Coverage summary =++"),
    "istanbul_sum": _below(
        rb"(?:Statements|Branches|Functions|Lines) *+: [0-9.]++% \( [0-9]++/[0-9]++ \)[^\n]*+|={20,}+",
        "istanbul_summary",
        "istanbul_sum",
    ),
    "istanbul_head": _below(
        rb"File *+\| % Stmts \| % Branch \| % Funcs \| % Lines \| Uncovered Line #s *+", "istanbul_rule"
    ),
    "istanbul_row": _below(rb"[^|\n]++\|(?: *+[0-9.]++ *+\|){4}[^|\n]*+", "istanbul_rule", "istanbul_row"),
}

_FREE = [form.pattern for form in FORMS.values() if not form.below]
_BOUND = [form.pattern for form in FORMS.values() if form.below]
# Most lines are none of these. Without named groups they are asked in a third of the time.
_MAY_STAND = re.compile(b"|".join(_FREE))
_MAY_FOLLOW = re.compile(b"|".join((*_FREE, *_BOUND)))
_NAMED = re.compile(b"|".join(b"(?P<%b>%b)" % (name.encode(), form.pattern) for name, form in FORMS.items()))


def may_stand(text: bytes) -> bool:
    """Whether a bare line has a form that needs none above it."""
    return _MAY_STAND.fullmatch(text) is not None


def without_surroundings(readings: list[Reading], exit_code: int | None) -> list[Reading]:
    """The readings without the unclassified lines that only stand around the run: counted, or shown as warnings.

    Nothing is taken from a stretch with contested results.
    """
    told = exit_code != 0 and any(part.failures or part.tally.failed for part in readings)
    formed = [_formed(part.unclassified) for part in readings]
    seen: dict[str, set[str]] = {part.stream: set() for part in readings}
    for part, names in zip(readings, formed, strict=True):
        seen[part.stream].update(names.values())
    return [_taken(part, names, seen[part.stream], told=told) for part, names in zip(readings, formed, strict=True)]


def witnesses(readings: Sequence[Reading]) -> set[Line]:
    """The unclassified lines that say that a command failed."""
    formed = (_formed(part.unclassified) for part in readings)
    return {line for names in formed for line, name in names.items() if FORMS[name].fails}


def _taken(part: Reading, names: dict[Line, str], seen: set[str], *, told: bool) -> Reading:
    """`names`: of its lines with a form; `seen`: of all such on its stream; `told`: the run says that it failed."""
    if not names or any(line.kind is Kind.CONTESTED_TEST for line in part.unclassified):
        return part
    forms = {line: FORMS[name] for line, name in names.items()}
    known = {
        line: form
        for line, form in forms.items()
        if (told or not form.fails) and (not form.after or form.after in seen)
    }
    if not known:
        return part
    said = [line.as_kind(Kind.ABNORMAL_WARNING) for line, form in known.items() if form.fails]
    # A dialect may have said so too; the verdict says it again of the lines that are left.
    return part._replace(
        unclassified=tuple(line for line in part.unclassified if line not in known),
        warnings=tuple(sorted((*part.warnings, *said), key=lambda line: line.number)),
        doubts=part.doubts - {Doubt.UNCLASSIFIED_EVIDENCE},
    ).with_suppressed({line: Kind.INFORMATIONAL for line, form in known.items() if not form.fails})


def _formed(lines: Sequence[Line]) -> dict[Line, str]:
    """The lines that have a form and stand where it may, with its name."""
    formed: dict[Line, str] = {}
    above, last = "", 0
    texts = bares(lines)
    # Long text has none, and what is bound to another stands below it.
    if not any(map(_MAY_STAND.fullmatch, texts)):
        return {}
    for line, text in zip(lines, texts, strict=True):
        known = (_MAY_FOLLOW if above else _MAY_STAND).fullmatch(text) and line.kind is Kind.UNCLASSIFIED
        name = _name(text, above if line.number <= last + 2 else "") if known else ""
        if name:
            formed[line] = name
        above, last = name, line.number
    return formed


def _name(text: bytes, above: str) -> str:
    found = _NAMED.fullmatch(text)
    name = found.lastgroup if found is not None else None
    if name is None or (FORMS[name].below and above not in FORMS[name].below):
        return ""
    return name
