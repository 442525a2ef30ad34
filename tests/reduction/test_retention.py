"""The ladder and its arithmetic."""

from dataclasses import replace

from context_firewall.reduction.retention import (
    SEED_LADDER,
    RetentionPlan,
    Show,
    smallest_ceiling,
    smallest_fixed_point,
)
from context_firewall.transcript.facts import Failure, Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line


def line(number: int, kind: Kind) -> Line:
    """A kept line."""
    return Line("stdout", number, kind, b"text")


FULL_HOUSE: Transcript = replace(
    combined([]),
    failures=(
        Failure("a", line(1, Kind.FAILED_TEST), (line(2, Kind.ASSERTION),)),
        Failure("b", line(3, Kind.FAILED_TEST)),
        Failure("c", None, (line(4, Kind.ASSERTION),)),
    ),
    fatal_errors=(line(5, Kind.FATAL_ERROR),),
    timeouts=(line(6, Kind.TIMEOUT),),
    warnings=(line(7, Kind.ABNORMAL_WARNING),),
    unclassified=(line(8, Kind.UNCLASSIFIED),),
    todo=(line(9, Kind.TODO_TEST),),
)


def no(plan: RetentionPlan) -> bool:
    """Nothing fits."""
    return False


def test_the_rungs_in_order() -> None:
    assert [rung.name for rung in SEED_LADDER] == ["full", "references", "compact"]
    assert SEED_LADDER[0].reason is None


def test_every_plan_parts_the_kept_lines() -> None:
    everyone = set(range(1, 10))
    for rung, shown in zip(SEED_LADDER, ({*everyone}, set(range(1, 7)), set()), strict=True):
        plan = rung.plan(FULL_HOUSE, no)
        assert plan is not None
        assert {one.number for one in plan.shown_lines(FULL_HOUSE)} == shown
        assert {one.number for one in plan.hidden_lines(FULL_HOUSE)} == everyone - shown


def test_a_rung_without_anything_to_give_up_makes_no_plan() -> None:
    critical = replace(FULL_HOUSE, warnings=(), unclassified=(), todo=())
    assert SEED_LADDER[1].plan(critical, no) is None


def test_failures_may_differ_in_form() -> None:
    plan = RetentionPlan(Show.TEXT, Show.TEXT, Show.TEXT, failure_forms=(Show.TEXT, Show.NOTHING, Show.REFERENCE))
    assert {one.number for one in plan.hidden_lines(FULL_HOUSE)} == {3, 4}


def test_the_smallest_fixed_point() -> None:
    for base in range(12_000):
        found = smallest_fixed_point(base)
        assert found == base + len(str(found))
        assert all(n != base + len(str(n)) for n in range(max(0, found - 12), found))


def test_the_smallest_ceiling_is_the_smallest() -> None:
    def length(base: int, ceiling: int) -> int:
        return smallest_fixed_point(base + 2 * len(str(ceiling)))

    for base in [*range(130), *range(900, 1100), *range(9_950, 10_050)]:
        asked = 64
        found = smallest_ceiling(length(base, asked), asked)
        assert length(base, found) <= found
        assert all(length(base, lower) > lower for lower in range(max(0, found - 40), found))
