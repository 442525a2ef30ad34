"""What a report of jest's amounts to once it is over: its failures, and whether they agree with its totals."""

from collections import Counter
from dataclasses import dataclass, field

from context_firewall.transcript.account import Account
from context_firewall.transcript.dialects import jest_grammar as grammar
from context_firewall.transcript.dialects.jest_actions import Actions
from context_firewall.transcript.dialects.jest_block import Block, Console
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded


@dataclass(slots=True)
class Totals:
    """The closing block of a report."""

    lines: list[Line] = field(default_factory=list)
    suites: Counter[str] = field(default_factory=Counter)
    tests: Counter[str] = field(default_factory=Counter)
    step: int = 0
    """How many of its four lines were read."""
    interrupted: bool = False

    @property
    def whole(self) -> bool:
        """Whether all four lines were read."""
        return self.step == 4

    def take(self, bare_line: bytes) -> bool:
        """The next line of the block, if this is it."""
        pattern = (grammar.SUITES, grammar.TESTS, grammar.SNAPSHOTS, grammar.TIME)[self.step]
        found = pattern.fullmatch(bare_line)
        if found is None:
            return False
        if self.step < 2:
            counts = self.suites if self.step == 0 else self.tests
            counts.update({name: int(number) for name, number in found.groupdict().items() if number})
        self.step += 1
        return True

    @property
    def adds_up(self) -> bool:
        """Whether its own numbers agree."""
        tests, suites = self.tests, self.suites
        ran = suites["failed"] + suites["passed"]
        return (
            tests["failed"] + tests["passed"] + tests["skipped"] + tests["todo"] == tests["total"]
            and ran <= suites["total"]
            and (ran == suites["ran"] if suites["ran"] else ran + suites["skipped"] == suites["total"])
        )

    @property
    def unrun(self) -> bool:
        """Whether files were left out that were not skipped."""
        return self.suites["failed"] + self.suites["passed"] + self.suites["skipped"] < self.suites["total"]


@dataclass(slots=True)
class Report:
    """What was read of one run."""

    actions: Actions
    passed_files: int = 0
    failed_files: int = 0
    passed_trees: int = 0
    treed: set[bytes] = field(default_factory=set)
    """Failed files with a tree."""
    signs: Counter[str] = field(default_factory=Counter)
    blocks: list[Block] = field(default_factory=list)
    consoles: list[Console] = field(default_factory=list)
    outside: list[Failure] = field(default_factory=list)
    failed_signs: list[Line] = field(default_factory=list)
    failed_names: Counter[tuple[bytes, bytes]] = field(default_factory=Counter)
    """How often a tree shows a failing test of a name."""
    only_recap: bool = False
    """The summary reporter's list of all failing tests is the only account of them."""
    recapped_files: int = 0
    failed_headers: dict[bytes, Line] = field(default_factory=dict)
    name_rests: list[tuple[bytes, Line]] = field(default_factory=list)
    """Further lines of names in trees, with their files, if the title of a failure bears that out."""

    @property
    def anything(self) -> bool:
        """Whether a file's report was read."""
        return bool(self.passed_files or self.failed_files or self.blocks)

    @property
    def shown(self) -> Counter[str]:
        """How many tests of which outcome trees show."""
        return self.signs or self.actions.signs

    @property
    def accounts(self) -> list[Block]:
        """The blocks; those of GitHub's groups, if nobody else has printed any."""
        return self.blocks if self.anything else self.actions.blocks

    def tests_failed(self) -> int:
        """How many failing tests the blocks name."""
        return len({(block.file, block.title) for block in self.accounts if not block.of_file})

    def agrees(self, totals: Totals) -> bool:
        """Whether the totals are those of what was read."""
        tests, suites = totals.tests, totals.suites
        if not totals.adds_up:
            return False
        if not self.anything and not self.actions.files:
            # The summary reporter prints nothing else. No groups come where a file was skipped; then annotations may
            # tell all, if each file that failed has a tree, as those have that load.
            annotated = (len(self.actions.titles), self.actions.failed_trees)
            return annotated == (tests["failed"], suites["failed"]) and self._actions_agree(totals)
        # Beside the summary reporter nobody need print files that passed.
        failed = self.recapped_files if self.anything else len(self.actions.files)
        if (self.only_recap or not self.anything) and failed != suites["failed"]:
            return False
        shown = (self.passed_files, self.failed_files)
        if self.anything and not self.only_recap and shown != (suites["passed"], suites["failed"]):
            return False
        errors = sum(1 for block in self.accounts if not block.of_file)
        if not self.tests_failed() <= tests["failed"] <= errors:
            return False
        return self._trees_agree(totals) and self._actions_agree(totals)

    def _actions_agree(self, totals: Totals) -> bool:
        """Whether GitHub's trees, if there are any, show what the totals count; those of a broken file are missing."""
        tests, signs = totals.tests, self.actions.signs
        broken = any(block.title == grammar.SUITE_FAILED for block in self.accounts)
        return not signs.total() or all(
            signs[name] <= tests[name] if broken else signs[name] == tests[name]
            for name in ("passed", "failed", "skipped", "todo")
        )

    def _trees_agree(self, totals: Totals) -> bool:
        """Whether trees, where files have them, show what the totals count.

        A file that failed as a whole has none, though tests of it may have run. Nor is a file printed of which every
        test is skipped.
        """
        tests, signs = totals.tests, self.signs
        if not self.passed_trees and not self.treed:
            return not signs.total()
        broken = {block.file for block in self.blocks if block.title == grammar.SUITE_FAILED}
        treeless = self.failed_headers.keys() - self.treed
        if self.passed_trees != self.passed_files or not treeless <= broken:
            return False
        shown = len(
            {(block.file, block.title) for block in self.blocks if not block.of_file and block.file in self.treed}
        )
        if signs["failed"] + self.tests_failed() - shown != tests["failed"]:
            return False
        exact = ["passed", "todo"] if not treeless else []
        if not treeless and not totals.suites["skipped"]:
            exact.append("skipped")
        return all(
            signs[name] == tests[name] if name in exact else signs[name] <= tests[name]
            for name in ("passed", "skipped", "todo")
        )


@dataclass(slots=True)
class Settlement:
    """What a report amounts to."""

    tally: Tally = Tally()
    failures: list[Failure] = field(default_factory=list)
    unclassified: list[Line] = field(default_factory=list)
    doubts: set[Doubt] = field(default_factory=set)


def settled(report: Report, totals: Totals | None, suppressed: Account, exit_code: int | None) -> Settlement:
    """Settle a report against its totals and the exit code."""
    settlement = Settlement()
    whole = totals is not None and totals.whole
    if totals is None or not whole:
        settlement.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    else:
        if not report.agrees(totals):
            settlement.doubts.add(Doubt.AGGREGATE_CONTRADICTION)
        if totals.interrupted or (totals.unrun and not totals.suites["failed"]):
            settlement.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
    _join_actions(report, settlement, suppressed)
    denied = whole and totals is not None and not (totals.tests["failed"] or totals.suites["failed"]) and not exit_code
    if denied and report.blocks:
        for block in report.blocks:
            settlement.unclassified.append(block.header.as_kind(Kind.CONTESTED_TEST))
            settlement.unclassified += block.details
            suppressed.add_lines(Kind.BLANK, block.blanks)
        settlement.doubts.add(Doubt.CONTESTED_RESULTS)
        report.blocks = []
    settlement.failures = _merged(report, totals, suppressed)
    _headers(report, settlement, suppressed, denied=denied)
    for file, line in report.name_rests:
        rest = bare(line.raw)
        duration = grammar.DURATION.search(rest[-40:])
        name = b" " + (rest[: len(rest) - len(duration[0])] if duration is not None else rest).strip()
        if any(block.file == file and name in block.title for block in report.blocks):
            suppressed.add(Kind.STRUCTURE, line.number)
        else:
            settlement.unclassified.append(line)
    _consoles(report, settlement, suppressed, whole=whole)
    told = bool(report.blocks) or totals is None or not totals.tests["failed"]
    agreed = whole and told and Doubt.AGGREGATE_CONTRADICTION not in settlement.doubts
    _annotated(report, settlement, agreed=agreed)
    settlement.failures += report.outside
    settlement.tally = _tally(report, totals)
    return settlement


def _merged(report: Report, totals: Totals | None, suppressed: Account) -> list[Failure]:
    """One failure a test: errors of one title belong together, unless the totals say that tests share it."""
    groups: dict[tuple[bytes, bytes, bool], list[Block]] = {}
    for block in report.blocks:
        groups.setdefault((block.file, block.title, block.outside), []).append(block)
    missing = 0 if totals is None else totals.tests["failed"] - report.tests_failed()
    # Where trees show two failing tests of one name, these are the ones that share it.
    ours = {key: _shown(report, *key[:2]) - 1 for key in groups}
    elsewhere = sum(count for count in ours.values() if count > 0)
    failures: list[Failure] = []
    for blocks in groups.values():
        apart = 0
        if not blocks[0].of_file and missing > 0:
            share = ours[blocks[0].file, blocks[0].title, blocks[0].outside] if elsewhere else missing
            apart = max(0, min(missing, share, len(blocks) - 1))
            missing -= apart
        for i, block in enumerate(blocks):
            suppressed.add_lines(Kind.BLANK, block.blanks)
            header = block.header.as_kind(Kind.FAILED_TEST)
            if i == 0 or len(blocks) - i <= apart:
                failures.append(Failure(block.identity, header, tuple(block.details)))
            else:
                last = failures[-1]
                more = (block.header.as_kind(Kind.FAILURE_DETAIL), *block.details)
                failures[-1] = Failure(last.identity, last.header, (*last.details, *more))
    return failures


def _shown(report: Report, file: bytes, title: bytes) -> int:
    """How many failing tests the trees show whose name ends a title."""
    leaves = title.split(grammar.ARROW.encode())
    names = (grammar.ARROW.encode().join(leaves[at:]) for at in range(len(leaves)))
    return max(report.failed_names[file, name] for name in names)


def _headers(report: Report, settlement: Settlement, suppressed: Account, *, denied: bool) -> None:
    """Lines that say that a file or a test failed: told by blocks, or kept as they are."""
    told = {block.file for block in report.blocks}
    for path, line in report.failed_headers.items():
        if path in told:
            suppressed.add(Kind.DERIVED_FAILURE, line.number)
        else:
            settlement.unclassified.append(line.as_kind(Kind.CONTESTED_TEST))
            settlement.doubts.add(Doubt.CONTESTED_RESULTS)
    accounts = len(report.blocks) or len(report.actions.annotations)
    for signs in (report.failed_signs, report.actions.failed_signs):
        if len(signs) <= accounts:
            suppressed.add_lines(Kind.RECAP, signs)
        else:
            settlement.unclassified += (line.as_kind(Kind.CONTESTED_TEST) for line in signs)
            settlement.doubts.add(Doubt.CONTESTED_RESULTS if denied else Doubt.RECAP_CONTRADICTION)


def _join_actions(report: Report, settlement: Settlement, suppressed: Account) -> None:
    """Groups of errors are the accounts, or repeat them; so do the outcomes in GitHub's trees."""
    actions = report.actions
    if report.anything:
        over, agreed = actions.repeats([block for block in report.blocks if not block.outside])
        report.blocks += over
        if not agreed:
            settlement.doubts.add(Doubt.RECAP_CONTRADICTION)
    else:
        report.blocks = list(actions.blocks)
    if report.passed_files or report.failed_files:
        for console in actions.consoles:
            suppressed.add_lines(Kind.RECAP, console.lines)
    else:
        report.consoles += actions.consoles
    if actions.broken:
        settlement.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
    settlement.unclassified += actions.loose


def _annotated(report: Report, settlement: Settlement, *, agreed: bool) -> None:
    """Annotations repeat what blocks tell; without blocks they are all there is."""
    failures: dict[tuple[bytes, bytes], Failure] = {}
    for file, title, line in report.actions.annotated(report.blocks):
        if agreed:
            settlement.unclassified.append(line.as_kind(Kind.CONTESTED_TEST))
            settlement.doubts.add(Doubt.CONTESTED_RESULTS)
            continue
        first = failures.get((file, title))
        if first is None:
            identity = grammar.ARROW.join(decoded(part) for part in (file, title) if part)
            failures[file, title] = Failure(identity, line.as_kind(Kind.FAILED_TEST))
        else:
            more = line.as_kind(Kind.FAILURE_DETAIL)
            failures[file, title] = Failure(first.identity, first.header, (*first.details, more))
    settlement.failures += failures.values()


def _consoles(report: Report, settlement: Settlement, suppressed: Account, *, whole: bool) -> None:
    """Console text goes with its file's first failure; what belongs to files that passed is not kept."""
    for console in report.consoles:
        if attach(console, settlement.failures):
            continue
        if whole:
            suppressed.add_lines(Kind.PROGRAM_OUTPUT, console.lines)
        else:
            settlement.unclassified += console.lines


def attach(console: Console, failures: list[Failure]) -> bool:
    """Add a console block to the first failure of a file that it names."""
    files = {decoded(file) for file in console.files}
    for i, failure in enumerate(failures):
        label = failure.identity.partition(grammar.ARROW)[0]
        if label in files or label.rpartition(" ")[2] in files:
            lines = [line.as_kind(_output_kind(line)) for line in console.lines]
            failures[i] = Failure(failure.identity, failure.header, (*failure.details, *lines))
            return True
    return False


def _output_kind(line: Line) -> Kind:
    text = bare(line.raw)
    if not text.strip() or grammar.SOURCE.fullmatch(text):
        return Kind.FAILURE_CONTEXT
    return Kind.FAILURE_DETAIL


def _tally(report: Report, totals: Totals | None) -> Tally:
    """As the totals count, else as read."""
    if totals is not None and totals.whole:
        tests = totals.tests
        return Tally(tests["passed"], tests["failed"], tests["skipped"], tests["todo"], tests["total"])
    signs = report.shown
    failed = max(signs["failed"], report.tests_failed())
    passed, skipped, todo = signs["passed"], signs["skipped"], signs["todo"]
    return Tally(passed, failed, skipped, todo, passed + failed + skipped + todo)
