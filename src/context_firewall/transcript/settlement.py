"""What the readings of all streams mean together: whose the lines are that no report has claimed.

A program may print where its runner never does, or what reads like a report; a process may fail outside of every test;
a project declares noise. Each step takes readings and gives readings.
"""

from collections import Counter
from collections.abc import Sequence, Set

from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.facts import STANDS, Reading
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.machine import Dialect
from context_firewall.transcript.noise import NoiseRule, without_noise
from context_firewall.transcript.two_streams import joined

# Doubts that leave room for a process that broke off.
OPEN_ENDED = frozenset({Doubt.COMPLETENESS_UNCONFIRMED, Doubt.PLAN_CONTRADICTION})

# Doubts of a run without a test that its account takes away: all unclassified lines are in it.
_OF_NOTHING = frozenset({Doubt.NO_TEST_EVIDENCE, Doubt.UNCLASSIFIED_EVIDENCE})


def settled(
    readings: list[Reading],
    dialects: Sequence[Dialect],
    exit_code: int | None,
    noise: Sequence[NoiseRule],
    disputed: Set[str],
) -> list[Reading]:
    """The readings of a run. `dialects`: those that have read; `disputed`: streams that two of them claim."""
    for each in dialects:
        if each.settle is not None:
            readings = each.settle(readings)
    readings = _with_process_failure(
        _with_program_output(joined(_without_echoes(readings, dialects, exit_code)), dialects, exit_code), exit_code
    )
    if any(part.unclassified and part.unclassified[0].stream == "stderr" for part in readings):
        from context_firewall.transcript.uncaught import with_uncaught_errors

        readings = with_uncaught_errors(readings)
    if noise:
        readings = _without_noise(_sorted_out(readings, exit_code), noise, disputed)
        # The only account of a failed process is kept whole; where noise has buried it, it is looked for again.
        if not any(Doubt.FAILURE_OUTSIDE_TESTS in part.doubts for part in readings):
            readings = _with_process_failure(readings, exit_code)
    return _sorted_out(readings, exit_code)


def _without_noise(readings: list[Reading], noise: Sequence[NoiseRule], disputed: Set[str]) -> list[Reading]:
    """The readings without declared noise. No rule takes a line that says that a command failed."""
    from context_firewall.transcript.surroundings import witnesses

    return without_noise(readings, noise, disputed, witnesses(readings))


def _sorted_out(readings: list[Reading], exit_code: int | None) -> list[Reading]:
    """The readings, with what is known of unclassified lines wherever they stand. Most runs have none."""
    if not any(part.unclassified for part in readings):
        return readings
    from context_firewall.transcript.command_lines import without_command_lines
    from context_firewall.transcript.runtime_warnings import with_runtime_warnings
    from context_firewall.transcript.surroundings import without_surroundings

    return with_runtime_warnings(without_surroundings(without_command_lines(readings), exit_code))


def _without_echoes(readings: list[Reading], rows: Sequence[Dialect], exit_code: int | None) -> list[Reading]:
    """Take what a program printed for text, where its runner's own report stands in another stream.

    What reads like the same runner's report is text. So is what reads like a piece of another's, if the runner's own
    report is whole and accounts for the exit code; but that stays in doubt.
    """
    own = {row.name: row.program_streams for row in rows if row.program_streams}
    home = [part for part in readings if part.has_results and part.stream not in own.get(part.dialect, (part.stream,))]
    if len({part.dialect for part in home}) != 1 or home[0].dialect not in own:
        return readings
    name = home[0].dialect
    whole = all(part.standing == STANDS for part in home)
    explained = whole and exit_code is not None and bool(exit_code) == any(part.tally.failed for part in home)

    def is_echo(part: Reading) -> bool:
        return not part.dialect or part.dialect == name or (explained and not part.standing)

    streams = own[name] - {part.stream for part in readings if not is_echo(part)}
    return [_as_text(part, name) if part.stream in streams else part for part in readings]


def _as_text(reading: Reading, runner: str) -> Reading:
    """A reading as text; that two dialects claimed it no longer matters."""
    if not reading.dialect:
        return reading._replace(doubts=reading.doubts - {Doubt.AMBIGUOUS_DIALECT})
    doubts = frozenset[Doubt]() if reading.dialect == runner else frozenset({Doubt.UNCLASSIFIED_EVIDENCE})
    return reading.as_text()._replace(stream=reading.stream, doubts=doubts)


def _with_program_output(readings: list[Reading], rows: Sequence[Dialect], exit_code: int | None) -> list[Reading]:
    """Attribute to the program what stands where its runner never prints, if the runner's own account is whole.

    Not if the process failed and the runner does not say why: then that may stand there.

    In a run that failed it may be what a failing test printed: there it stays visible, as what it is, unless the
    failures show all of it.
    """
    own = {row.name: row.program_streams for row in rows if row.program_streams}
    runners = {part.dialect for part in readings if part.has_results}
    explained = not exit_code or any(part.failures or part.tally.failed for part in readings)
    if len(runners) != 1 or not explained or any(part.doubts for part in readings):
        return readings
    streams = own.get(runners.pop(), frozenset())
    printed = {line.raw for part in readings if part.stream in streams for line in part.unclassified}
    failures = [failure for part in readings for failure in part.failures]
    if failures and not printed <= {line.raw for failure in failures for line in failure.details}:
        return [_as_visible_output(part) if part.stream in streams else part for part in readings]
    return [_as_program_output(part) if part.stream in streams else part for part in readings]


def _as_visible_output(reading: Reading) -> Reading:
    """A reading whose unclassified lines are the program's own, and shown."""
    return reading._replace(unclassified=tuple(line.as_kind(Kind.PROGRAM_OUTPUT) for line in reading.unclassified))


def _as_program_output(reading: Reading) -> Reading:
    """A reading whose unclassified lines are the program's own."""
    account = Counter(reading.suppressed)
    account[Kind.PROGRAM_OUTPUT] += len(reading.unclassified)
    fates = reading.fates
    if fates is not None:
        fates = {**fates, **{line.number: Kind.PROGRAM_OUTPUT for line in reading.unclassified}}
    return reading._replace(unclassified=(), suppressed={k: n for k, n in account.items() if n}, fates=fates)


def _with_process_failure(readings: list[Reading], exit_code: int | None) -> list[Reading]:
    """Turn standard error into a failure of its own where the process failed and no test accounts for it."""
    if not exit_code:
        return readings
    recognised = any(part.failures or part.fatal_errors or part.timeouts or part.tally.failed for part in readings)
    open_ended = any(OPEN_ENDED & part.doubts for part in readings)
    alone = not any(line.stream == "stdout" for part in readings for line in part.unclassified)
    for i, part in enumerate(readings):
        lines = part.unclassified
        if not lines or lines[0].stream != "stderr":
            continue
        # Most runs have nothing there, and start faster without.
        from context_firewall.transcript.broken_off import before_any_test, exited_behind_all
        from context_firewall.transcript.process_failure import is_uncaught, process_failure, ran_nothing

        if alone and ran_nothing(lines) and not any(other.has_results for other in readings):
            fatal = tuple(line.as_kind(Kind.FATAL_ERROR) for line in lines)
            readings[i] = part._replace(fatal_errors=fatal, unclassified=())
            break
        if recognised and not (open_ended and is_uncaught(lines)):
            continue
        if not _sorted_out([part], exit_code)[0].unclassified:
            continue  # nothing there says why
        current = next((other.current_test for other in reversed(readings) if other.current_test), "")
        failure = process_failure(lines, current, alone=alone)
        if failure is not None:
            told = part._replace(failures=(*part.failures, failure), unclassified=())
            if alone and _nothing_ran(readings) and before_any_test(lines, exit_code):
                # What the runner says of no tests, and of lines that it has not printed, is explained.
                readings = [one._replace(doubts=one.doubts - _OF_NOTHING) for one in readings]
                readings[i] = told
            elif not any(one.doubts for one in readings) and exited_behind_all(lines, exit_code, _tests(readings)):
                readings[i] = told
            else:
                readings[i] = told._replace(doubts=part.doubts | {Doubt.FAILURE_OUTSIDE_TESTS})
            break
    return readings


def _tests(readings: Sequence[Reading]) -> int:
    return sum(part.tally.total for part in readings)


def _nothing_ran(readings: Sequence[Reading]) -> bool:
    """Whether the whole of every stream was read, and holds no test."""
    return not any(part.cut or part.todo for part in readings) and not _tests(readings)
