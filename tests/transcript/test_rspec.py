"""RSpec's progress and documentation formatters: every form they take, and what must not be taken for them."""

import pytest
from reports import chunked, damaged, judged, linear, names, read, region, sufficient, tally, texts

from context_firewall.transcript.dialects.rspec import DIALECT
from context_firewall.transcript.dialects.rspec_grammar import Heading, Totals, heading, marked, totals
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.reader import trace_streams

PENDING_HEADING = "Pending: (Failures listed here are expected and do not affect your suite's status)\n"
PENDING = f"""
{PENDING_HEADING}
  1) Oven hums
     # OVEN-4
     Failure/Error: it("hums", pending: "OVEN-4") {{ expect(oven).to be_humming }}
       expected `oven.humming?` to be truthy, got false
     # ./spec/oven_spec.rb:33:in `block (2 levels) in <top (required)>'

  2) Oven rings
     # no bell here
     # ./spec/oven_spec.rb:36
"""
ACCOUNT = """  {number}) Oven {name}
     Failure/Error: expect(oven.heat).to eq 220

       expected: 220
            got: 180

       (compared using ==)
     # ./spec/oven_spec.rb:{place}:in `block (2 levels) in <top (required)>'
"""


def account(number: int, name: str) -> str:
    return ACCOUNT.format(number=number, name=name, place=10 + number)


def failures(*names: str) -> str:
    return "\nFailures:\n" + "".join("\n" + account(i, name) for i, name in enumerate(names, 1))


def closing(counts: str) -> str:
    return f"\nFinished in 0.01234 seconds (files took 0.06543 seconds to load)\n{counts}\n"


def recap(*names: str) -> str:
    lines = "".join(f"rspec ./spec/oven_spec.rb:{10 + i} # Oven {name}\n" for i, name in enumerate(names, 1))
    return f"\nFailed examples:\n\n{lines}\n"


GREEN = "...\n" + closing("3 examples, 0 failures") + "\n"
GREEN_PENDING = ".**.\n" + PENDING + closing("4 examples, 0 failures, 2 pending") + "\n"
BODILESS = f""".*.

{PENDING_HEADING}
  1) Oven glows
     # Not yet implemented
     # ./spec/oven_spec.rb:30
{closing("3 examples, 0 failures, 1 pending")}
"""
RED_END = failures("bakes", "cools") + closing("5 examples, 2 failures") + recap("bakes", "cools")
RED = ".F.F.\n" + RED_END
OUTLINE = """
Oven
  opens
  bakes (FAILED - 1)
  with a door
    closes
    when hot
      cools (FAILED - 2)

Shelf
  holds
"""
RED_OUTLINE = OUTLINE + RED_END
OUTSIDE = """
An error occurred while loading ./spec/shelf_spec.rb. - Did you mean?
                    rspec ./spec/oven_spec.rb

Failure/Error: require_relative "../lib/shelf"

LoadError:
  cannot load such file -- /srv/bakery/lib/shelf
# ./spec/shelf_spec.rb:1:in `require_relative'
# /var/lib/gems/3.1.0/gems/rspec-core-3.12.2/exe/rspec:4:in `<top (required)>'
"""
HOOK = """
An error occurred in an `after(:context)` hook.
Failure/Error: after(:all) { oven.clean! }

RuntimeError:
  too hot to clean
# ./spec/oven_spec.rb:40:in `block (2 levels) in <top (required)>'
"""


# -- the grammar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("1 example, 0 failures", Totals(1, 0, 0, 0)),
        ("25 examples, 13 failures, 4 pending, 1 error occurred outside of examples", Totals(25, 13, 4, 1)),
        ("0 examples, 0 failures, 2 errors occurred outside of examples", Totals(0, 0, 0, 2)),
        ("3 examples, 2 failures, 2 pending", None),
        ("3 examples", None),
        (" 3 examples, 0 failures", None),
        ("3 examples, 0 failures.", None),
    ],
)
def test_totals(line: str, stated: Totals | None) -> None:
    assert totals(line.encode()) == stated


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Failures:", Heading.FAILURES),
        (PENDING_HEADING.strip(), Heading.PENDING),
        ("Top 3 slowest examples (0.01 seconds, 67.8% of total time):", Heading.SLOWEST),
        ("Top 2 slowest example groups:", Heading.SLOWEST),
        ("Finished in 1 minute 2.3 seconds (files took 1 second to load)", Heading.FINISHED),
        ("Finished in 2 seconds", None),
        (" Failures:", None),
    ],
)
def test_headings(line: str, found: Heading | None) -> None:
    assert heading(line.encode()) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (b"bakes", (b"bakes", None, False)),
        (b"bakes (FAILED - 12)", (b"bakes", 12, False)),
        (b"bakes (FAILED - x)", (b"bakes (FAILED - x)", None, False)),
        (b"says (FAILED - 1) (FAILED - 2)", (b"says (FAILED - 1)", 2, False)),
        (b"bakes (PENDING: no # flour)", (b"bakes", None, True)),
        (b"bakes (PENDING: no", (b"bakes (PENDING: no", None, False)),
    ],
)
def test_marks(name: bytes, found: tuple[bytes, int | None, bool]) -> None:
    assert marked(name) == found


# -- what it reads ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "exit_code", "counts", "failed"),
    [
        (GREEN, 0, (3, 0, 0, 0), []),
        (GREEN_PENDING, 0, (2, 0, 1, 1), []),
        (RED, 1, (3, 2, 0, 0), ["Oven bakes", "Oven cools"]),
        (RED_OUTLINE.replace("5 examples", "5 examples"), 1, (3, 2, 0, 0), ["Oven bakes", "Oven cools"]),
        (OUTSIDE + closing("0 examples, 0 failures, 1 error occurred outside of examples"), 1, (0, 0, 0, 0),
         ["./spec/shelf_spec.rb"]),
        (".\n" + HOOK + closing("1 example, 0 failures, 1 error occurred outside of examples"), 1, (1, 0, 0, 0),
         ["`after(:context)` hook: RuntimeError: too hot to clean"]),
    ],
)  # fmt: skip
def test_a_whole_run(text: str, exit_code: int, counts: tuple[int, ...], failed: list[str]) -> None:
    """RSPEC-1, RSPEC-2."""
    found = read(text, exit_code)
    assert (tally(found), names(found)) == (counts, failed)
    assert sufficient(text, exit_code) == ("failed" if failed else "passed")


def test_the_region_is_the_account() -> None:
    """RSPEC-2."""
    found = read(RED, 1)
    assert region(found) == account(1, "bakes").splitlines()
    assert found.failures[0].header is not None
    assert found.failures[0].header.kind is Kind.FAILED_TEST


def test_pending_examples_are_told_apart() -> None:
    """RSPEC-5: what was run and failed is todo, the rest skipped."""
    assert texts(read(GREEN_PENDING).todo) == ["  1) Oven hums"]
    torn = GREEN_PENDING.replace("     # OVEN-4\n", "")
    assert sufficient(torn) == Doubt.COUNTS_UNCONFIRMED


def test_an_example_without_a_body_is_to_do_and_may_count_as_skipped() -> None:
    """RSPEC-5: the outcome is in no doubt."""
    outline = BODILESS.replace(".*.", "\nOven\n  heats\n  glows (PENDING: Not yet implemented)\n  cools")
    for text in (BODILESS, outline):
        found = read(text)
        assert (tally(found), texts(found.todo)) == ((2, 0, 0, 1), ["  1) Oven glows"])
        verdict = judged(text)
        assert (verdict.status, list(verdict.reason_codes)) == ("passed", ["COUNTS_UNCONFIRMED"])
    torn = BODILESS.replace("     # Not yet implemented\n", "")
    assert sufficient(torn) == Doubt.COUNTS_UNCONFIRMED
    ran = GREEN_PENDING.replace("# OVEN-4", "# Not yet implemented")
    assert sufficient(ran) == "passed"


def test_colours_and_carriage_returns_change_nothing() -> None:
    coloured = RED.replace(".F.F.", "\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m\x1b[32m.\x1b[0m")
    coloured = coloured.replace("5 examples, 2 failures", "\x1b[31m5 examples, 2 failures\x1b[0m").replace("\n", "\r\n")
    assert names(read(coloured, 1)) == names(read(RED, 1))
    assert sufficient(coloured, 1) == "failed"


def test_a_fixed_pending_example_goes_by_its_own_name() -> None:
    fixed = (
        "\n  1) Oven hums FIXED\n     Expected pending 'OVEN-4' to fail. No error was raised.\n     # ./a_spec.rb:11\n"
    )
    text = "F\n\nFailures:\n" + fixed + closing("1 example, 1 failure") + recap("hums")
    assert names(read(text, 1)) == ["Oven hums"]
    assert sufficient(text, 1) == "failed"


@pytest.mark.parametrize(
    "torn", [HOOK.replace("  too hot to clean\n", ""), HOOK.replace("Error:\n  too", "Error:\nx\n  too")]
)
def test_an_account_of_a_hook_that_is_torn_is_doubted(torn: str) -> None:
    """RSPEC-2."""
    text = ".\n" + torn + closing("1 example, 0 failures, 1 error occurred outside of examples")
    assert sufficient(text, 1) == Doubt.STRUCTURE_CONTRADICTION


def test_a_hook_whose_expectation_fails() -> None:
    hook = HOOK.replace("RuntimeError:\n  too hot to clean", "  expected: 220\n       got: 180")
    found = read(".\n" + hook + closing("1 example, 0 failures, 1 error occurred outside of examples"), 1)
    assert names(found) == ["`after(:context)` hook: expected: 220"]


def test_frames_of_libraries_are_context() -> None:
    found = read(OUTSIDE + closing("0 examples, 0 failures, 1 error occurred outside of examples"), 1)
    kinds = {line.text: line.kind for line in found.failures[0].details}
    assert kinds["# ./spec/shelf_spec.rb:1:in `require_relative'"] is Kind.STACK_TRACE
    assert (
        kinds["# /var/lib/gems/3.1.0/gems/rspec-core-3.12.2/exe/rspec:4:in `<top (required)>'"] is Kind.FAILURE_CONTEXT
    )


def test_profile_seed_filters_and_deprecations() -> None:
    slowest = (
        "\nTop 2 slowest examples (0.1 seconds, 67.8% of total time):\n  Oven bakes\n    0.1 seconds ./a_spec.rb:3\n"
    )
    groups = (
        "\nTop 1 slowest example groups:\n  Oven\n    0.1 seconds average (0.1 seconds / 1 example) ./a_spec.rb:1\n"
    )
    old = "\nDeprecation Warnings:\n\nUsing `should` is deprecated.\n\n1 deprecation warning total\n"
    end = closing("3 examples, 0 failures") + "\nRandomized with seed 4711\n"
    text = "\nRandomized with seed 4711\n...\n" + slowest + groups + old + end
    assert sufficient(text) == "passed"
    assert texts(read(text).warnings)[1] == "Using `should` is deprecated."


def test_no_example_is_no_pass() -> None:
    """RSPEC-6."""
    text = "Run options: include {:full_description=>/x/}\n\nAll examples were filtered out\n" + closing(
        "0 examples, 0 failures"
    )
    assert sufficient(text) == Doubt.NO_TEST_EVIDENCE


# -- what examples print ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "printed", ["preheating\n", "Failures:\n\n  1) nothing\n", "9 examples, 9 failures\n", "FIXME\n"]
)
def test_what_is_printed_among_letters_is_the_programs(printed: str) -> None:
    """RSPEC-4."""
    assert sufficient("." + printed + "..\n" + closing("3 examples, 0 failures")) == "passed"
    red = ".F" + printed + ".F.\n" + RED_END
    assert sufficient(red, 1) == "failed"
    shown = [line for line in read(red, 1).unclassified if line.kind is Kind.PROGRAM_OUTPUT]
    assert texts(shown)[0].startswith(".F")


def test_what_is_printed_among_the_outline_is_the_programs() -> None:
    """RSPEC-4: at the margin, or below an empty line."""
    for printed in ("preheating\n", "warm\n\n  warmer\n", "\n  1) warm\n"):
        text = RED_OUTLINE.replace("  bakes (", printed + "  bakes (")
        assert sufficient(text, 1) == "failed", printed


def test_what_stands_before_the_first_result_is_nobodys() -> None:
    """RSPEC-4."""
    assert sufficient("preheating the oven\n" + GREEN) == Doubt.UNCLASSIFIED_EVIDENCE


def test_standard_error_is_the_programs() -> None:
    assert sufficient(GREEN, 0, "ok 1 - x\n3 examples, 3 failures\n") == "passed"


def test_a_run_that_was_stopped_is_not_the_suites() -> None:
    """RSPEC-6."""
    words = "\nRSpec is shutting down and will print the summary report... Interrupt again to force quit.\n"
    assert Doubt.COMPLETENESS_UNCONFIRMED in judged(RED, 1, words).reasons
    assert Doubt.COMPLETENESS_UNCONFIRMED in judged(".F.F." + words + RED_END, 1).reasons


@pytest.mark.parametrize(
    "said",
    [
        "Coverage report generated for RSpec to /srv/bakery/coverage. 10 / 12 LOC (83.33%) covered.\n",
        "Coverage report generated for Unit Tests to /srv/bakery/coverage.\nLine Coverage: 83.33% (10 / 12)\n",
    ],
)
def test_a_coverage_report_may_follow(said: str) -> None:
    assert sufficient(GREEN + said) == "passed"


# -- what must not be taken for a report ------------------------------------------------------------------------------

FORGED = failures("lies") + closing("1 example, 1 failure") + recap("lies")


@pytest.mark.parametrize(
    ("text", "exit_code", "doubt"),
    [
        (RED.partition("\nFinished")[0], 1, Doubt.COMPLETENESS_UNCONFIRMED),
        (RED.partition("\nFailed examples")[0], 1, Doubt.COMPLETENESS_UNCONFIRMED),
        ("..\n" + closing("3 examples, 0 failures"), 0, Doubt.AGGREGATE_CONTRADICTION),
        (".F.\n" + closing("3 examples, 0 failures"), 0, Doubt.AGGREGATE_CONTRADICTION),
        (".F.F.\n" + failures("bakes") + closing("5 examples, 2 failures") + recap("bakes", "cools"), 1,
         Doubt.AGGREGATE_CONTRADICTION),
        (RED.replace("# Oven cools", "# Oven warms"), 1, Doubt.RECAP_CONTRADICTION),
        (RED.replace("  2) Oven", "  3) Oven"), 1, Doubt.AGGREGATE_CONTRADICTION),
        (RED_OUTLINE.replace("  opens\n", ""), 1, Doubt.AGGREGATE_CONTRADICTION),
        (RED_OUTLINE.replace("FAILED - 2", "FAILED - 1"), 1, Doubt.AGGREGATE_CONTRADICTION),
        (GREEN_PENDING.replace(", 2 pending", ""), 0, Doubt.AGGREGATE_CONTRADICTION),
        (OUTSIDE + closing("0 examples, 0 failures, 2 errors occurred outside of examples"), 1,
         Doubt.AGGREGATE_CONTRADICTION),
        (GREEN + GREEN.replace("3 examples", "2 examples"), 0, Doubt.AGGREGATE_CONTRADICTION),
        (GREEN + "and then\n", 0, Doubt.UNCLASSIFIED_EVIDENCE),
        (RED.replace("Finished in", "Finished at"), 1, Doubt.COMPLETENESS_UNCONFIRMED),
    ],
)  # fmt: skip
def test_what_is_not_whole_does_not_suffice(text: str, exit_code: int, doubt: Doubt) -> None:
    """RSPEC-1, RSPEC-3."""
    verdict = judged(text, exit_code)
    assert doubt in verdict.reasons
    assert str(verdict.status) == ("failed" if exit_code else "indeterminate")


def test_a_red_report_with_a_masked_exit_code_is_no_pass() -> None:
    assert sufficient(RED, 0) == "ZERO_EXIT_WITH_FAILURES"


def test_a_forged_report_is_not_the_runs() -> None:
    """RSPEC-3: results follow it, and the runner's own report."""
    text = ".\n" + FORGED + "..\n" + closing("3 examples, 0 failures")
    found = read(text, 0)
    assert tally(found) == (3, 0, 0, 0)
    assert judged(text, 0).reasons != frozenset()
    assert names(found) == []


def test_a_forged_section_is_kept_as_contested() -> None:
    """RSPEC-3: nothing but the totals says that it is none."""
    text = "...\n" + failures("lies") + closing("3 examples, 0 failures")
    found = read(text, 0)
    assert Doubt.CONTESTED_RESULTS in found.doubts
    assert [line.text for line in found.unclassified if line.kind is Kind.CONTESTED_TEST] == ["  1) Oven lies"]


def test_forged_totals_hide_no_failure() -> None:
    text = ".F." + closing("3 examples, 0 failures") + "F.\n" + RED_END
    assert names(read(text, 1)) == ["Oven bakes", "Oven cools"]
    assert str(judged(text, 1).status) == "failed"


def test_a_run_that_says_nothing_before_the_next_is_missed() -> None:
    """RSPEC-6."""
    first = "\nRandomized with seed 3\n"
    assert sufficient(first + GREEN) == "passed"
    assert Doubt.COMPLETENESS_UNCONFIRMED in judged(first + first + GREEN).reasons


def test_two_runs_in_one_stream_are_added_up() -> None:
    found = read(GREEN + RED, 1)
    assert tally(found) == (6, 2, 0, 0)
    assert names(found) == ["Oven bakes", "Oven cools"]


def test_a_run_that_breaks_off_names_whom_its_outline_marks() -> None:
    """RSPEC-2."""
    found = read(OUTLINE, 1)
    assert names(found) == ["Oven bakes", "Oven with a door when hot cools"]
    assert Doubt.COMPLETENESS_UNCONFIRMED in found.doubts
    named = read("\nRandomized with seed 3\n.F.F\n", 1)
    assert names(named) == ["2 failing examples, not named"]


def test_a_method_follows_its_class_without_a_blank() -> None:
    assert names(read("\nOven\n  .new\n    bakes (FAILED - 1)\n", 1)) == ["Oven.new bakes"]


# -- bytes ------------------------------------------------------------------------------------------------------------

SHAPES = [GREEN, GREEN_PENDING, BODILESS, RED, RED_OUTLINE, "." + FORGED + ".F.F.\n" + RED_END, OUTSIDE + HOOK + RED]


@pytest.mark.parametrize("text", SHAPES)
def test_chunks_make_no_difference(text: str) -> None:
    chunked(text, "rspec")


def test_every_line_has_one_fate_under_damage() -> None:
    """P3."""
    damaged(SHAPES, "rspec", ["Failures:", "..F", "  1) Oven x", "Oven", "  bakes (FAILED - 1)", "WARNING: hot"])


def test_a_trace_tells_the_same() -> None:
    found, traces = trace_streams([("stdout", [RED_OUTLINE.encode()])], exit_code=1)
    assert {trace.dialect for trace in traces.values()} == {"rspec"}
    assert found == read(RED_OUTLINE, 1)


@pytest.mark.parametrize(
    "unit",
    [".", "F ", "(FAILED - 1", " (PENDING: ", "  ", "a.b.", "# ./a:1", ":1:in ", "`", "\n  a (FAILED - 1)",
     "\n\nFailures:\n", "\n\nFailures:\n\n  1) Oven x\n     y", closing("1 example, 0 failures"), OUTSIDE,
     "\n  a\n\n  b"],
)  # fmt: skip
def test_time_grows_with_the_text(unit: str) -> None:
    """P7."""
    linear("\nRandomized with seed 1\n\nOven\n  opens (FAILED - 1)\n", unit, RED_END, "rspec")


def test_the_row_says_what_it_is() -> None:
    assert (DIALECT.name, *DIALECT.streams) == ("rspec", "stdout")


def test_rubys_own_warnings_are_warnings() -> None:
    """RSPEC-7: where standard error is merged."""
    warning = "lib/oven.rb:9: warning: method redefined; discarding old bake\n"
    inside = RED.replace("\nFinished in", "\n(eval):3: warning: unused\n\nFinished in")
    for run, warnings in ((warning + RED, 1), (inside, 1), (warning + inside, 2)):
        assert sufficient(run, 1) == "failed"
        assert len(read(run, 1).warnings) == warnings
    assert sufficient(RED.replace("\nFinished in", "\nloose\n\nFinished in"), 1) != "failed"
