"""TAP 13 and 14, as Node, tape, node-tap, Perl, bats, vitest, mocha, ava, deno and others print it.

The grammar (tap_grammar) says what a line is; this machine says where it stands: in which document and subtest, inside
which YAML block, below which point. The tree (tap_tree) holds points and the order of their numbers; a document is
reconciled when it ends (tap_document). Nothing is guessed: a line that has no place is unclassified, and whatever does
not close or add up is a doubt.
"""

import re

from context_firewall.transcript.account import Account
from context_firewall.transcript.details import classify_detail
from context_firewall.transcript.dialects import tap_grammar as grammar
from context_firewall.transcript.dialects import tap_lanes as lanes
from context_firewall.transcript.dialects.tap_document import Document, Executed, Rank, reconcile, settle
from context_firewall.transcript.dialects.tap_errors import settle as settle_errors
from context_firewall.transcript.dialects.tap_tree import (
    NUMBER_LIMIT,
    STATUSES,
    Counts,
    Draft,
    Frame,
    Harvest,
    Point,
    Run,
)
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import Failure, Reading, Tally
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line, bare, decoded, lines_from
from context_firewall.transcript.machine import Dialect
from context_firewall.transcript.markers import SERVICE_MESSAGE, marker_kind

PASSED, FAILED, SKIPPED, TODO = range(len(STATUSES))
POINT_KINDS = (Kind.SUCCESSFUL_TEST, Kind.FAILED_TEST, Kind.SKIPPED_TEST, Kind.TODO_TEST)

# How many lines of program output before a point are held, in case the point says that its whole file failed.
OUTPUT_HELD = 200

# A subtest is indented by four blanks.
STEP = 4

# The versions whose rules these are; the specification calls it an error to name an earlier one.
VERSIONS = (13, 14)

# No producer nests deeper; beyond this, indentation opens nothing.
DEEPEST = 64 * STEP

# What the flat subset calls the totals that it does not read.
INFORMATIONAL_TOTALS = frozenset({"suites", "cancelled", "todo"})


def tap_shaped(text: bytes) -> bool:
    """Whether a line without its indentation has the form of a point, plan, version or bail-out."""
    return any(rule.fullmatch(text) for rule in (grammar.POINT, grammar.PLAN, grammar.VERSION, grammar.BAIL_OUT))


def _counts(units: lanes.Units, *, root: bool) -> Counts:
    """What the points of a run add; all of them passed."""
    counts = _below(units, 0, 0)
    if root:
        counts.top[PASSED] = units.top
        counts.files[PASSED] = units.top - units.top_parents
    return counts


def _below(units: lanes.Units, own: int, own_suites: int) -> Counts:
    """The same at every level but the top, without the parents of it that count for themselves."""
    counts = Counts(suites=units.suites - own_suites)
    counts.leaves[PASSED] = units.points - units.parents
    counts.tests[PASSED] = units.points - units.suites - (own - own_suites)
    return counts


class TapMachine:
    """Reads the TAP documents of one stream."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self._suppressed = Account()
        self._fatal_errors: list[Line] = []
        self._timeouts: list[Line] = []
        self._warnings: list[Line] = []
        self._unclassified: list[Line] = []
        self._ended: list[Document] = []
        self._trailer_lines: list[tuple[Line, Point | None]] = []
        self._cut = False
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        self._document = Document()
        self._frames = [self._document.root]

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents read so far, the open one last."""
        return (*self._ended, *(() if self._document in self._ended else (self._document,)))

    # -- the contract ---------------------------------------------------------------------------------------------

    def lane(self, *, plain: bool = False) -> re.Pattern[bytes] | None:
        frame = self._frames[-1]
        point = frame.point
        if point is not None and point.yaml_open:
            return lanes.yaml_lane(point.yaml_indent or b"")
        if frame.subtest is not None or frame.finished:
            return None
        if self._document.node:
            lane = lanes.node_lane(frame.indent)
        elif len(self._frames) > 1:
            lane = None
        else:
            lane = lanes.PLAIN_RUN if plain else lanes.CAREFUL_RUN
        return lane if point is None or point.yaml_seen or point.details else lanes.or_block(lane)

    def run(self, block: bytes, start: int, stop: int, number: int) -> int:
        point = self._frames[-1].point
        if point is not None and point.yaml_open:
            return self._yaml_run(point, block, start, stop, number)
        if point is not None and (opening := lanes.YAML_OPEN.match(block, start)):
            return self._yaml_block(point, opening[1], block, start, stop, number)
        return (self._node_run if self._document.node else self._plain_run)(block, start, stop, number)

    def _look_for_hidden(self, block: bytes, start: int, stop: int) -> None:
        """What `line` asks of each line, asked of a run."""
        if lanes.hides(block, start, stop):
            self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)

    def _yaml_run(self, point: Point, block: bytes, start: int, stop: int, number: int) -> int:
        """Lines inside a YAML block."""
        if block.find(grammar.EXECUTED_START, start, stop) >= 0:
            return 0
        self._look_for_hidden(block, start, stop)
        if not point.keeps:
            lines = block.count(b"\n", start, stop)
            point.muted_from = point.muted_from or number
            point.muted += lines
        else:
            region = block[start : stop - 1].split(b"\n")
            lines = len(region)
            odd = block.find(b"\r", start, stop) >= 0 or block.find(b"\x1b", start, stop) >= 0
            kinds = map(classify_detail, map(bare, region) if odd else region)
            point.details += lines_from(self._stream, number, kinds, region)
        self._number = number + lines - 1
        return lines

    def _yaml_block(self, point: Point, indent: bytes, block: bytes, start: int, stop: int, number: int) -> int:
        """The whole block of a point of which nothing was said yet."""
        if not self._frames[-1].indent < len(indent) <= lanes.INDENT_LIMIT:
            return 0
        lines = self._yaml_run(point, block, start, stop, number)
        if lines:
            point.yaml_indent, point.yaml_seen = indent, True
            for key in lanes.keys_read(block, start, stop, indent):
                self._node_key(point, key)
        return lines

    def _plain_run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Points without details. The last one may be about to open a YAML block, and is then read as a line."""
        frame = self._frames[-1]
        self._settle(frame)
        due = frame.numbering.due
        tests, points = lanes.numbers_in_order(block, start, stop, due)
        last = stop
        if tests < points or not lanes.POINT_BELOW.match(block, stop):
            last = block.rfind(b"\n", start, stop - 1) + 1 or start
            tests = min(tests, points - 1)
        if not tests or (due == 1 and frame.plan_after > 0):
            return 0  # a first point after a plan may begin another document
        self._look_for_hidden(block, start, stop)
        if not self._document.pytest:
            self._document.pytest = lanes.has_pytest_name(block, start, stop)
        pathless = tests - lanes.names_with_path(block, start, last)
        self._point_follows()
        self._mute_comments()
        stretch = frame.numbering.runs[-1]
        stretch.last += tests
        stretch.harvest.points += tests
        frame.numbering.points += tests
        counts = stretch.harvest.counts
        for view in (counts.top, counts.leaves, counts.tests):
            view[PASSED] += tests
        counts.files[PASSED] += pathless
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, tests)
        if last == stop:
            return tests
        raw = block[last : stop - 1]
        self.line(bare(raw), raw, number + tests)
        return tests + 1

    def _node_run(self, block: bytes, start: int, stop: int, number: int) -> int:
        """Tests and suites with their YAML blocks. The last one stays open unless the next line settles it."""
        frame = self._frames[-1]
        margin, root = b" " * frame.indent, len(self._frames) == 1
        self._settle(frame)
        due = frame.numbering.due
        odd = (root and lanes.has(block, b" > ", b">", start, stop)) or block.find(b".py::", start, stop) >= 0
        if odd or (root and due == 1 and frame.plan_after > 0):
            return 0
        last = stop
        if not lanes.node_goes_on(frame.indent).match(block, stop):
            last = block.rfind(b"\n%b# Subtest: " % margin, start, stop) + 1 or start
        before = lanes.units(block, start, last, frame.indent, due)
        unit = before and lanes.units(block, last, stop, frame.indent, due + before.top)
        if before is None or unit is None:
            return 0
        self._look_for_hidden(block, start, stop)
        if root:
            self._point_follows()
        self._mute_comments()
        self._document.announced = True
        stretch = frame.numbering.runs[-1]
        stretch.last += before.top
        stretch.harvest.points += before.top
        frame.numbering.points += before.top
        stretch.harvest.counts.add(_counts(before, root=root))
        lines = block.count(b"\n", start, stop)
        points, parents = before.points + unit.points, before.parents + unit.parents
        headers, details = points, lines - 2 * points - parents
        if last < stop:
            frame.point = self._open_point(frame, unit, block, last, stop, number + lines)
            # Its header and what follows it are accounted for when it is settled.
            headers, details = headers - 1, details - frame.point.muted
        self._suppressed.add_many(Kind.SUCCESSFUL_TEST, headers)
        self._suppressed.add_many(Kind.STRUCTURE, points + parents)
        self._suppressed.add_many(Kind.TEST_DETAIL, details)
        self._number = number + lines - 1
        return lines

    def _open_point(self, frame: Frame, unit: lanes.Units, block: bytes, start: int, stop: int, after: int) -> Point:
        """The point of the one unit that block[start:stop] is; `after` is the number of the line below it."""
        margin = b" " * frame.indent
        at = block.rfind(b"\n%bok " % margin, start, stop) + 1
        end = block.index(b"\n", at)
        muted = block.count(b"\n", end + 1, stop)
        raw = block[at:end]
        header = Line(self._stream, after - muted - 1, Kind.SUCCESSFUL_TEST, raw)
        description = grammar.described(raw.partition(b" - ")[2], ok=True)
        number = frame.numbering.due
        point = Point(header, True, number, description, PASSED, muted=muted, muted_from=header.number + 1)
        point.yaml_indent, point.yaml_seen = margin + b"  ", True
        point.suite = block.find(lanes.SUITE, end, stop) >= 0
        if unit.children:
            point.child = child = Frame(frame.indent + STEP, description.name, declared=True, plan=unit.children)
            child.numbering.points = unit.children
            child.numbering.runs[0] = Run(1, unit.children, Harvest(unit.children, _below(unit, 1, int(point.suite))))
        return point

    def trace(self) -> None:
        self._suppressed.trace()

    def cut(self) -> None:
        self._cut = True

    def line(self, bare: bytes, raw: bytes, number: int) -> bool:
        if bare.startswith(SERVICE_MESSAGE) and self.complete:
            return False  # a service message of the next run, no comment
        self._number = number
        if grammar.HIDDEN.search(bare):
            self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        frame = self._frames[-1]
        point = frame.point
        if number == 1 and bare.startswith(b"\xef\xbb\xbf"):
            bare = bare[3:]
        if point is not None and point.yaml_open and self._in_yaml(frame, point, bare, raw, number):
            return True
        text = bare.lstrip(b" ")
        if not text or text.isspace():
            return self._blank(frame, raw, number)
        if point is not None and text.startswith((b"-", b"\t")) and self._opens_yaml(frame, point, bare, raw, number):
            return True
        indent = len(bare) - len(text)
        if indent == frame.indent:
            return self._here(frame, text, raw, number)
        if indent > frame.indent:
            return self._deeper(frame, indent, text, bare, raw, number)
        return self._outward(indent, text, raw, number)

    @property
    def complete(self) -> bool:
        root = self._document.root
        if len(self._frames) > 1 or root.finished or root.subtest is not None or not self._document.met():
            return False
        if root.plans > 1 and not self._document.node:
            return False
        if root.point is not None and (root.point.yaml_open or root.point.takes_details):
            return bool(self._document.trailer)
        return not self._document.node or "todo" in self._document.trailer

    def close(self, exit_code: int | None) -> Reading:
        if self._cut and self._last_line_matters():
            self._document.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        current = self._current_test()
        self._end_document()
        tally, failures, todo, doubts, standing = Tally(), list[Failure](), list[Line](), set[Doubt](), 0
        fatal_errors, unclassified = self._fatal_errors, self._unclassified
        settlements = [settle(document) for document in self._ended]
        best = max(settlement.rank for settlement in settlements)
        for document, settlement in zip(self._ended, settlements, strict=True):
            denied = exit_code == 0 and settlement.rank < min(best, Rank.MET)
            out = reconcile(document, settlement, exit_code, denied=denied)
            tally += out.tally
            failures += out.failures
            todo += out.todo
            doubts |= out.doubts
            for kind, lines in out.suppressed:
                self._suppressed.add_lines(kind, lines)
            fatal_errors = fatal_errors + out.fatal_errors
            unclassified = unclassified + out.unclassified
            standing = max(standing, out.standing)
            # What a run says last, below its points, explains a result that its points do not.
            explains = out.doubts or (exit_code and not out.failures)
            if explains:
                unclassified = unclassified + list(document.comments)
            else:
                self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, document.comments)
        return Reading(
            tally=tally,
            failures=tuple(failures),
            fatal_errors=tuple(sorted(fatal_errors, key=lambda line: line.number)),
            timeouts=tuple(self._timeouts),
            warnings=tuple(self._warnings),
            unclassified=tuple(sorted(unclassified, key=lambda line: line.number)),
            todo=tuple(sorted(todo, key=lambda line: line.number)),
            suppressed=self._suppressed.totals(),
            fates=self._suppressed.fates,
            doubts=frozenset(doubts),
            has_results=any(document.begun for document in self._ended),
            standing=standing,
            current_test=current,
        )

    def _last_line_matters(self) -> bool:
        """Whether the last line is a point or part of a region: cut short, it would mean something else."""
        point = self._frames[-1].point
        if point is None:
            return len(self._frames) > 1
        last = point.details[-1] if point.details else point.line
        return last.number == self._number or point.yaml_open

    # -- lines by where they stand --------------------------------------------------------------------------------

    def _opens_yaml(self, frame: Frame, point: Point, bare: bytes, raw: bytes, number: int) -> bool:
        opening = grammar.YAML_OPEN.fullmatch(bare)
        if opening is None or point.yaml_seen:
            return False
        indent = opening[1]
        if b"\t" not in indent and len(indent) <= frame.indent:
            return False
        if any(
            line.kind is not Kind.FAILURE_DETAIL or not line.raw.lstrip().startswith(b"#") for line in point.details
        ):
            return False  # plain text stands between: a message that holds three dashes
        point.yaml_indent, point.yaml_open, point.yaml_seen = indent, True, True
        self._yaml_content(point, bare, raw, number)
        return True

    def _yaml_content(self, point: Point, bare: bytes, raw: bytes, number: int) -> None:
        if point.keeps:
            point.details.append(Line(self._stream, number, classify_detail(bare), raw))
        else:
            point.muted_from = point.muted_from or number
            point.muted += 1

    def _in_yaml(self, frame: Frame, point: Point, bare: bytes, raw: bytes, number: int) -> bool:
        indent = point.yaml_indent or b""
        if executed := grammar.EXECUTED.fullmatch(bare):
            self._document.executed = Executed(int(executed[1]), int(executed[2]))
        if bare.startswith(indent):
            content = bare[len(indent) :]
            if content.rstrip(b" \t") == b"...":
                point.yaml_open = False
            elif content[:1] not in (b" ", b"-"):
                self._node_key(point, content)
        elif bare and not bare.isspace():
            text = bare.lstrip(b" ")
            margin = len(bare) - len(text)
            if margin <= frame.indent and tap_shaped(text):
                due = (point.number if point.number is not None else frame.numbering.due) + 1
                rule = grammar.POINT.fullmatch(text)
                if margin == frame.indent and rule is not None and rule[2] is not None and rule[2] == b"%d" % due:
                    # The number that is due: the block was cut short, and this is the next point.
                    point.yaml_open = False
                    self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
                    return False
                point.yaml_suspect = True
        self._yaml_content(point, bare, raw, number)
        return True

    def _node_key(self, point: Point, content: bytes) -> None:
        if grammar.NODE_DURATION.fullmatch(content):
            self._document.node = True
        elif kind := grammar.NODE_TYPE.fullmatch(content):
            point.suite = kind[1] == b"suite"
        elif failure := grammar.NODE_FAILURE_TYPE.fullmatch(content):
            point.failure_type = failure[1]
        elif grammar.NODE_EXIT.fullmatch(content):
            point.file_level = True

    def _blank(self, frame: Frame, raw: bytes, number: int) -> bool:
        point = frame.point
        if point is not None and point.takes_details and point.details and not self._document.trailer:
            point.details.append(Line(self._stream, number, Kind.FAILURE_DETAIL, raw))
        else:
            self._suppressed.add(Kind.BLANK, number)
        return True

    def _here(self, frame: Frame, text: bytes, raw: bytes, number: int) -> bool:
        """A line at the indentation of the innermost open document."""
        if rule := grammar.POINT.fullmatch(text):
            self._point(frame, rule, text, raw, number)
        elif text.startswith(b"#"):
            self._comment(frame, text, raw, number, nested=False)
        elif rule := grammar.PLAN.fullmatch(text):
            self._plan(frame, rule)
        elif rule := grammar.VERSION.fullmatch(text):
            self._version(frame, int(rule[1]))
        elif grammar.BAIL_OUT.fullmatch(text):
            self._settle(frame)
            self._document.bailed.append(Line(self._stream, number, Kind.FATAL_ERROR, raw))
        elif rule := grammar.PRAGMA.fullmatch(text):
            self._suppressed.add(Kind.STRUCTURE, self._number)
            if rule[2] == b"strict" and frame is self._document.root:  # a subtest's pragma ends with it
                self._document.strict = rule[1] == b"+"
        elif text == b"{" and frame.point is not None and frame.point.child is None:
            self._open_buffered(frame, frame.point)
            self._suppressed.add(Kind.STRUCTURE, self._number)
        else:
            return self._unknown(frame, text, raw, number, marked=frame.indent == 0)
        return True

    def _deeper(self, frame: Frame, indent: int, text: bytes, bare: bytes, raw: bytes, number: int) -> bool:
        """A line indented beyond the innermost open document: a detail, a child's first line, or nothing known."""
        point, step = frame.point, indent - frame.indent
        # A brace that has closed opens nothing any more.
        unread = point is not None and point.description.buffered and point.child is None
        if point is not None and unread and step % STEP == 0 and self._opens_child(text):
            child = self._open_buffered(frame, point)
            if step > STEP:
                return self._deeper(child, indent, text, bare, raw, number)
            return self._here(child, text, raw, number)
        if point is not None and point.takes_details and frame.subtest is None:
            if not (step == STEP and grammar.PLAN.fullmatch(text)):
                return self._detail(point, bare, raw, number)
        elif text.startswith(b"#") and not (
            step == STEP and (frame.subtest is not None or grammar.SUBTEST.fullmatch(text))
        ):
            self._comment(frame, text, raw, number, nested=True)
            return True
        if step % STEP == 0 and self._opens_child(text) and self._may_open(frame, step, text):
            self._settle(frame)
            for margin in range(frame.indent + STEP, indent + STEP, STEP):
                parent = self._frames[-1]
                if parent.finished is not None:
                    self._orphan(parent)
                child = Frame(margin, parent.subtest, parent.subtest is not None)
                parent.subtest = None
                self._frames.append(child)
            return self._here(self._frames[-1], text, raw, number)
        return self._unknown(frame, text, raw, number, marked=False)

    def _opens_child(self, text: bytes) -> bool:
        return tap_shaped(text) or text.startswith(b"#") or grammar.PRAGMA.fullmatch(text) is not None

    def _may_open(self, frame: Frame, step: int, text: bytes) -> bool:
        """Announced by a comment; or bare, and then only by a plan, a version, a first point or a comment's own."""
        if frame.indent + step > DEEPEST:
            return False
        if frame.subtest is not None:
            return step == STEP or grammar.SUBTEST.fullmatch(text) is not None
        if rule := grammar.POINT.fullmatch(text):
            return rule[2] is None or int(rule[2][-18:]) == 1
        return any(form.fullmatch(text) for form in (grammar.PLAN, grammar.VERSION, grammar.SUBTEST, grammar.BAIL_OUT))

    def _open_buffered(self, frame: Frame, point: Point) -> Frame:
        child = Frame(frame.indent + STEP, point.description.name, buffered=True)
        point.child = child
        self._frames.append(child)
        return child

    @staticmethod
    def _unbrace(parent: Frame, child: Frame) -> None:
        child.buffered, child.name = False, None
        if parent.point is not None:
            parent.point.child = None

    def _outward(self, indent: int, text: bytes, raw: bytes, number: int) -> bool:
        """A line to the left of the innermost open document: it may close children, or it is noise between them."""
        depth = None if indent % STEP else indent // STEP  # each frame is one step deeper than the one around it
        innermost = self._frames[-1]
        if depth is None:
            if text.startswith(b"#"):
                self._comment(innermost, text, raw, number, nested=True)
                return True
            return self._unknown(innermost, text, raw, number, marked=False)
        if text.rstrip(b" \t") == b"}" and innermost.buffered and depth == len(self._frames) - 2:
            self._settle(innermost)
            if innermost.finished is not None:
                self._orphan(innermost)
            self._frames.pop()
            self._document.buffered = True
            self._suppressed.add(Kind.STRUCTURE, self._number)
            return True
        closes = tap_shaped(text) or grammar.SUBTEST.fullmatch(text) is not None
        if closes and innermost.buffered and depth == len(self._frames) - 2 and not self._document.buffered:
            # No brace closed any subtest yet: the one that seemed to open it is the end of a name.
            self._unbrace(self._frames[depth], innermost)
        inside_braces = any(frame.buffered for frame in self._frames[depth + 1 :])
        if grammar.VERSION.fullmatch(text) or (closes and not inside_braces):
            self._close_children(depth)
            return self._here(self._frames[depth], text, raw, number)
        if text.startswith(b"#"):
            self._comment(innermost, text, raw, number, nested=True)
            return True
        return self._unknown(innermost, text, raw, number, marked=indent == 0)

    # -- what a line does -----------------------------------------------------------------------------------------

    def _point(self, frame: Frame, rule: re.Match[bytes], text: bytes, raw: bytes, number: int) -> None:
        self._settle(frame)
        if len(self._frames) == 1:
            self._point_follows()
            self._maybe_next_document(rule)
            frame = self._frames[-1]
        refusal, digits, rest = rule.groups()
        ok = refusal is None
        description = grammar.described(rest or b"", ok=ok)
        excused = description.directive and (ok or description.exact)
        status = (SKIPPED if description.directive == "skip" else TODO) if excused else (PASSED if ok else FAILED)
        given = None if digits is None else int(digits) if len(digits) < 18 else NUMBER_LIMIT
        point = Point(Line(self._stream, number, POINT_KINDS[status], raw), ok, given, description, status)
        if description.timed and not description.buffered and frame.finished is None:
            self._document.timed_leaves = True
        if frame.finished is not None:
            child = frame.finished
            frame.finished = None
            names = (child.name, b"Subtest: " + (child.name or b""), b"")  # older Test2 repeats the word
            if child.declared and description.name not in names:
                self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            point.child = child
            self._document.timed_parents |= description.timed
        elif (
            frame.subtest is not None
            and frame.subtest not in (description.name, description.whole)
            and not (frame.declared or frame.numbering.points)
            and frame.indent
        ):
            # The comment stood inside the child that it names: this is the child's first point.
            frame.name, frame.declared = frame.subtest, True
        frame.subtest = None
        if self._document.comments:
            point.before = list(self._document.comments)
            self._document.comments.clear()
        self._document.touched = True
        if grammar.PYTEST_NODE.match(description.name):
            self._document.pytest = True
        frame.point = point

    def _maybe_next_document(self, rule: re.Match[bytes]) -> None:
        """After a whole document whose plan came last, a point numbered 1 begins another one."""
        root = self._document.root
        if root.plan_after > 0 and rule[2] == b"1" and not self._document.noisy and self.complete:
            self._end_document()
            self._begin()
            self._document.follows = True

    def _plan(self, frame: Frame, rule: re.Match[bytes]) -> None:
        self._settle(frame)
        self._suppressed.add(Kind.STRUCTURE, self._number)
        first, last = int(rule[1]), int(rule[2])
        root = len(self._frames) == 1
        if frame.finished is not None:
            self._orphan(frame)
        if frame.subtest is not None and not frame.declared and not frame.numbering.points and frame.indent:
            frame.name, frame.declared = frame.subtest, True
        elif frame.subtest is not None:
            self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)  # announced, and not there
        frame.subtest = None
        if root and frame.plans and frame.plan_after == 0 and not self._document.node and self.complete:
            self._end_document()
            self._begin()
            frame = self._frames[-1]
        skips = (rule[3] or b"")[:4].upper() == b"SKIP" and last > 0
        if first != 1 or skips or (last == 0 and frame.numbering.points and not self._document.node):
            self._document.doubts.add(Doubt.PLAN_CONTRADICTION)
        frame.plans += 1
        frame.plan = last
        frame.plan_after = frame.numbering.points

    def _version(self, frame: Frame, version: int) -> None:
        self._suppressed.add(Kind.STRUCTURE, self._number)
        if frame.indent:
            return  # a subtest may be a whole document of its own
        self._settle(frame)
        if self._document.begun or self._document.version:
            if not self.complete:
                self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
            self._end_document()
            self._begin()
        self._document.version = True
        if version not in VERSIONS:
            self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)

    def _comment(self, frame: Frame, text: bytes, raw: bytes, number: int, *, nested: bool) -> None:
        point = frame.point
        root = len(self._frames) == 1
        if not nested and (subtest := grammar.SUBTEST.fullmatch(text)):
            self._settle(frame)
            if frame.finished is not None:
                self._orphan(frame)
            if frame.subtest is not None and (frame.declared or frame.numbering.points or not frame.indent):
                self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)  # announced, and not there
            self._document.announced = True
            frame.subtest = grammar.described(subtest[1] or b"").whole
            self._suppressed.add(Kind.STRUCTURE, self._number)
            return
        line = Line(self._stream, number, Kind.PROGRAM_OUTPUT, raw)
        if root and not nested and (executed := grammar.EXECUTED.fullmatch(text)):
            self._document.executed = Executed(int(executed[1]), int(executed[2]))
        if root and not nested and (failed := grammar.LOOKS_FAILED.fullmatch(text)):
            self._document.looks_failed = int(failed[1])
        if root and not nested and self._total(text, line, point):
            return
        if point is not None and point.takes_details and not (root and self._document.trailer):
            self._detail(point, text, raw, number)
            return
        if root and not nested:
            self._document.heading = text[1:].strip()
        self._document.comments.append(line)
        if len(self._document.comments) > OUTPUT_HELD:
            self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, [self._document.comments.popleft()])

    def _total(self, text: bytes, line: Line, point: Point | None) -> bool:
        """Take a total. It counts only if no point follows; until then it may be a test's own output."""
        trailer = self._document.trailer
        if total := grammar.AGGREGATE.fullmatch(text):
            key = total[1].decode()
            trailer.setdefault(key, []).append(int(total[2]))
            kind = Kind.INFORMATIONAL if key in INFORMATIONAL_TOTALS else Kind.AGGREGATE_SOURCE
        elif grammar.DURATION.fullmatch(text):
            kind = Kind.DURATION_SOURCE
        elif together := grammar.OBJECT_TRAILER.fullmatch(text):
            for key, n in grammar.OBJECT_PAIR.findall(together[1]):
                trailer.setdefault(key.decode(), []).append(int(n))
            kind = Kind.AGGREGATE_SOURCE
        else:
            self._document.vouched |= bool(trailer) and grammar.NONE_FAILED.fullmatch(text) is not None
            return False
        self._trailer_lines.append((line.as_kind(kind), point if point is not None and point.takes_details else None))
        return True

    def _point_follows(self) -> None:
        """The totals read so far were no trailer: give their lines back to whom they belong."""
        for line, owner in self._trailer_lines:
            if owner is None:
                self._suppressed.add(Kind.PROGRAM_OUTPUT, line.number)
            elif owner.derived:
                self._suppressed.add(Kind.DERIVED_FAILURE, line.number)
            else:
                owner.details.append(line.as_kind(Kind.FAILURE_DETAIL))
        self._trailer_lines.clear()
        self._document.trailer.clear()
        self._document.vouched = False

    def _detail(self, point: Point, bare: bytes, raw: bytes, number: int) -> bool:
        """Take a line that follows a failing point. Behind the last point it may as well open another report."""
        point.details.append(Line(self._stream, number, classify_detail(bare), raw))
        return len(self._frames) > 1 or self.complete or not self._document.met()

    def _unknown(self, frame: Frame, text: bytes, raw: bytes, number: int, *, marked: bool) -> bool:
        kind = marker_kind(text) if marked else None
        if kind is not None:
            lists = {
                Kind.FATAL_ERROR: self._fatal_errors,
                Kind.TIMEOUT: self._timeouts,
                Kind.ABNORMAL_WARNING: self._warnings,
            }
            lists[kind].append(Line(self._stream, number, kind, raw))
            return True
        if frame.point is not None and frame.point.takes_details and not self._document.trailer:
            return self._detail(frame.point, text, raw, number)
        if self.complete:
            return False
        self._document.noisy = True
        if self._document.strict:
            self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        self._unclassified.append(Line(self._stream, number, Kind.UNCLASSIFIED, raw))
        return False

    def _mute_comments(self) -> None:
        if self._document.comments:
            self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, self._document.comments)
            self._document.comments.clear()

    # -- closing --------------------------------------------------------------------------------------------------

    def _settle(self, frame: Frame, *, ended: bool = False) -> None:
        """The open point of a frame is over: count it, keep or drop its region, place its number.

        `ended`: nothing follows it in its document.
        """
        point = frame.point
        if point is None:
            return
        frame.point = None
        doubts = self._document.doubts
        if point.yaml_open or point.yaml_suspect:
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        if not point.ok and point.status != FAILED and _bats_failed(point):
            point.status, point.line = FAILED, point.line.as_kind(POINT_KINDS[FAILED])
            point.description = point.description._replace(name=point.description.whole, directive="")
        description, child = point.description, point.child
        if description.buffered and child is None and (description.timed or self._document.buffered or ended):
            doubts.add(Doubt.STRUCTURE_CONTRADICTION)  # the subtest that the brace opens is not there
        if not point.ok and not point.details and grammar.FILE_HOOK.fullmatch(description.name):
            doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)  # bats says why, and so which file it was
        below = None if child is None else self._of_child(child, point)
        held = point.line if point.ok and point.status in (PASSED, SKIPPED) else None
        stretch, holds = frame.numbering.place(point.number, held)
        frame.numbering.points += 1
        number = point.number if point.number is not None else stretch.last
        if frame is self._document.root and point.status == FAILED:
            self._document.hooked(description.name, number)
        harvest = stretch.harvest
        harvest.points += 1
        harvest.counts.count(
            point.status,
            root=frame is self._document.root,
            # node-tap counts a file without tests as one point.
            leaf=below is None or (not below.points and child is not None and child.plan == 0),
            suite=point.suite,
            pathless=b" > " not in description.name,
        )
        derived = False
        if below is not None:
            derived = point.status == FAILED and bool(below.failures) and self._is_derived(point)
            harvest.counts.add(below.counts)
            for draft in (*below.failures, *below.excused):
                draft.number = number
            excused = point.status in (SKIPPED, TODO)
            (harvest.excused if excused else harvest.failures).extend(below.failures)
            harvest.excused += below.excused
        if not point.ok and (point.file_level or (point.status == FAILED and child is not None and not derived)):
            # Node prints a file's own output before its point, Test::More a subtest's complaint inside it.
            point.details[:0] = point.before
        elif point.before:
            self._suppressed.add_lines(Kind.PROGRAM_OUTPUT, point.before)
        if derived:
            point.derived = True
            self._suppressed.add_lines(Kind.DERIVED_FAILURE, (point.line, *point.details))
        elif point.status in (FAILED, TODO) or not point.ok:
            own = Draft([self._name(point)], point.line, point.details, description.whole, number, point.ok)
            (harvest.failures if point.status == FAILED else harvest.excused).append(own)
        elif not holds:
            self._suppressed.add(point.line.kind, point.line.number)
        self._suppressed.add_range(Kind.TEST_DETAIL, point.muted_from, point.muted)

    def _of_child(self, child: Frame, point: Point) -> Harvest:
        """What a closed subtest brings to its point, with the point's name before each path."""
        below = child.harvest()
        name = point.description.name or child.name or b""
        for draft in (*below.failures, *below.excused):
            draft.path.insert(0, name)
        for run in child.numbering.stretches():
            if run.header is not None:
                self._suppressed.add(run.header.kind, run.header.number)
        if point.ok and point.status == PASSED:
            if below.failures:
                self._document.doubts.add(Doubt.TREE_CONTRADICTION)
            if child.plan is None and not self._document.node:
                self._document.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
            elif child.plan is not None and child.plan != below.points:
                self._document.doubts.add(Doubt.PLAN_CONTRADICTION)
        elif child.plan is None:
            self._document.doubts.add(Doubt.COMPLETENESS_UNCONFIRMED)
        elif child.plan != below.points:
            # It may be all that this point fails for; or a point was lost.
            self._document.doubts.add(Doubt.PLAN_CONTRADICTION)
        if point.status == SKIPPED and below.failures:
            self._document.doubts.add(Doubt.TREE_CONTRADICTION)
        below.counts.top = [0, 0, 0, 0]
        below.counts.files = [0, 0, 0, 0]
        return below

    def _is_derived(self, point: Point) -> bool:
        """Whether a failing parent says nothing but that a child failed."""
        if point.failure_type:
            return point.failure_type == b"subtestsFailed"
        base = len(point.yaml_indent or b"")
        for line in point.details:
            text = line.raw.strip()
            if not text or text in (b"---", b"..."):
                continue
            if point.description.timed and not point.description.buffered:
                nested = line.raw[base : base + 1] in (b" ", b"-", b"]", b"}")
                if nested or grammar.PARENT_KEYS.fullmatch(text):
                    continue
            if not any(rule.fullmatch(text) for rule in grammar.DERIVED_MESSAGES):
                return False
        return True

    @staticmethod
    def _name(point: Point) -> bytes:
        """The point's name. Unnamed: the place that Test::More gives it. A file's hook: with what it says."""
        name = point.description.name
        if not point.details or (name and not grammar.FILE_HOOK.fullmatch(name)):
            return name
        said = [text for line in point.details if (text := line.raw.strip()) not in grammar.FRAME_OF_MESSAGE]
        comments = (text for text in said if text.startswith(b"#"))
        first = next(comments, said[0] if said else b"")
        if name:
            return name + b": " + first.lstrip(b"# ") if first else name
        place = grammar.UNNAMED_PLACE.fullmatch(first)
        return b"(unnamed test) " + place[1] if place else b""

    def _close_children(self, depth: int) -> None:
        """Close every document inside the one at that depth; the outermost of them waits for its closing point."""
        while len(self._frames) > depth + 1:
            child = self._frames.pop()
            self._settle(child)
            if child.finished is not None:
                self._orphan(child)
            parent = self._frames[-1]
            if child.buffered:
                self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
                continue  # its point is open in the parent and holds it already
            if parent.finished is not None:
                self._orphan(parent)
            parent.finished = child

    def _orphan(self, frame: Frame) -> None:
        """A subtest that no point closed: its failures count, and the document does not add up."""
        child = frame.finished
        frame.finished = None
        if child is None:
            return
        self._document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)
        below = child.harvest()
        for draft in (*below.failures, *below.excused):
            if child.name:
                draft.path.insert(0, child.name)
            draft.number = frame.numbering.runs[-1].last
        for run in child.numbering.stretches():
            if run.header is not None:
                self._suppressed.add(run.header.kind, run.header.number)
        below.counts.top = [0, 0, 0, 0]
        below.counts.files = [0, 0, 0, 0]
        below.points = 0
        frame.numbering.runs[-1].harvest.add(below)

    def _current_test(self) -> str:
        """The test that was announced and did not end."""
        if self.complete:
            return ""
        names = [frame.name for frame in self._frames if frame.name]
        if self._frames[-1].subtest:
            names.append(self._frames[-1].subtest)
        elif not names and self._document.heading:
            names.append(self._document.heading)
        return " > ".join(decoded(name) for name in names)

    def _end_document(self) -> None:
        document = self._document
        if self._frames[-1].subtest is not None:
            document.doubts.add(Doubt.STRUCTURE_CONTRADICTION)  # announced, and not there
        self._close_children(0)
        self._settle(document.root, ended=True)
        if document.root.finished is not None:
            self._orphan(document.root)
        for line, _ in self._trailer_lines:
            self._suppressed.add(line.kind, line.number)
        self._trailer_lines.clear()
        self._ended.append(document)


def _bats_failed(point: Point) -> bool:
    """Whether bats says where a test failed: then what looks like a directive is the end of its name."""
    texts = (line.raw.strip() for line in point.details)
    first = next((text for text in texts if text not in grammar.FRAME_OF_MESSAGE), b"")
    return grammar.BATS_PLACE.fullmatch(first) is not None


DIALECT = Dialect(
    name="tap",
    title="TAP 13 and 14",
    checked=(
        "Node 20-26, tape 5, node-tap 21, Test::More 1.302, bats 1.8-1.13, vitest 3-4, mocha 11, ava 7, deno 2, "
        "tap.py 3, pytest-tap 3"
    ),
    streams=frozenset({"stdout"}),
    opening=re.compile(
        rb"(?:\xef\xbb\xbf)?+(?:TAP version [0-9]++[ \t]*+\Z"
        rb"|[0-9]++\.\.[0-9]++(?:[ \t]*+#.*+)?+[ \t]*+\Z"
        # But not go's `ok  <tab>package<tab>time`, nor deno's `ok | 3 passed | 0 failed (2ms)`.
        rb"|(?!ok  \t|ok \| [0-9]++ passed)(?:not )?+ok(?:[ \t]|\Z)"
        rb"|Bail out!|pragma [+-]"
        rb"|# Subtest(?::|\Z)|# tests [0-9]++\Z|# TAP results for "
        rb"| {4,}+(?:(?:not )?+ok 1(?:[ \t]|\Z)|1\.\.[0-9]++|# Subtest))"
    ),
    begin=TapMachine,
    settle=settle_errors,
)
