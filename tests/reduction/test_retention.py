"""The ladder and its arithmetic."""

from collections.abc import Callable

from context_firewall.reduction.retention import (
    SEED_LADDER,
    RetentionPlan,
    Show,
    least_ceiling,
    length_under,
    smallest_fixed_point,
)
from context_firewall.transcript.facts import Failure, Transcript, combined
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import Line


def line(number: int, kind: Kind) -> Line:
    """A kept line."""
    return Line("stdout", number, kind, b"text")


FULL_HOUSE: Transcript = combined([])._replace(
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


class NoRoom:
    """Nothing fits."""

    def for_whole(self, plan_for: Callable[[int], RetentionPlan], limit: int) -> int | None:
        return None

    def for_edges(self, plan: RetentionPlan, limit: int) -> int:
        return 0

    def for_named(self, plan: RetentionPlan) -> int:
        return 0


def test_the_rungs_in_order() -> None:
    assert [rung.name for rung in SEED_LADDER] == ["full", "references", "compact"]
    assert SEED_LADDER[0].reason is None


def test_every_plan_parts_the_kept_lines() -> None:
    everyone = set(range(1, 10))
    for rung, shown in zip(SEED_LADDER, ({*everyone}, set(range(1, 7)), set()), strict=True):
        plan = rung.plan(FULL_HOUSE, NoRoom())
        assert plan is not None
        assert {one.number for one in plan.shown_lines(FULL_HOUSE)} == shown
        assert {one.number for one in plan.hidden_lines(FULL_HOUSE)} == everyone - shown


def test_a_rung_without_anything_to_give_up_makes_no_plan() -> None:
    critical = FULL_HOUSE._replace(warnings=(), unclassified=(), todo=())
    assert SEED_LADDER[1].plan(critical, NoRoom()) is None


def test_failures_may_differ_in_form() -> None:
    plan = RetentionPlan(Show.TEXT, Show.TEXT, Show.TEXT, failure_forms=(Show.TEXT, Show.NOTHING, Show.REFERENCE))
    assert {one.number for one in plan.hidden_lines(FULL_HOUSE)} == {3, 4}


def test_the_smallest_fixed_point() -> None:
    for base in range(12_000):
        found = smallest_fixed_point(base)
        assert found == base + len(str(found))
        assert all(n != base + len(str(n)) for n in range(max(0, found - 12), found))


def test_the_least_ceiling_is_the_smallest_from_which_on_a_packet_fits() -> None:
    for weight in [*range(130), *range(900, 1100), *range(9_950, 10_050), *range(99_950, 100_050)]:
        found = least_ceiling(weight)
        assert all(length_under(ceiling, weight) <= ceiling for ceiling in range(found, found + 40))
        assert length_under(found - 1, weight) > found - 1


def test_a_packet_that_a_longer_ceiling_would_not_hold_does_not_fit_a_shorter_one() -> None:
    weight = 9_999 - len("9999") - 2 * len("9999")
    assert length_under(9_999, weight) == 9_999
    assert length_under(10_000, weight) > 10_000
    assert least_ceiling(weight) == length_under(10_000, weight)
