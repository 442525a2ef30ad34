"""What a reading cannot vouch for. Each value is the reason code that a packet carries (SPEC.md, "Reason codes")."""

from enum import StrEnum


class Doubt(StrEnum):
    """Why the points that were read do not prove the run's outcome."""

    UNCLASSIFIED_EVIDENCE = "UNCLASSIFIED_EVIDENCE"
    MALFORMED_UTF8 = "MALFORMED_UTF8"
    AGGREGATE_CONTRADICTION = "AGGREGATE_CONTRADICTION"
    NO_TEST_EVIDENCE = "NO_TEST_EVIDENCE"
    """No test result was recognised anywhere in the run."""
    COMPLETENESS_UNCONFIRMED = "COMPLETENESS_UNCONFIRMED"
    """Plan or closing summary missing: the output may have been cut."""
    PLAN_CONTRADICTION = "PLAN_CONTRADICTION"
    """Plan and points disagree: count, duplicate or out-of-range number, point after the plan, second plan."""
    STRUCTURE_CONTRADICTION = "STRUCTURE_CONTRADICTION"
    """The grammar's own brackets do not match: an open YAML block or subtest, a misplaced version, an orphan child."""
    TREE_CONTRADICTION = "TREE_CONTRADICTION"
    """A parent reports success although one of its children failed."""
    RECAP_CONTRADICTION = "RECAP_CONTRADICTION"
    """The runner's second list of failures is not the list of failures read."""
    CONTESTED_RESULTS = "CONTESTED_RESULTS"
    """Lines shaped like results that plan, numbering, summary or exit status deny."""
    COUNTS_UNCONFIRMED = "COUNTS_UNCONFIRMED"
    """The format does not tell tests from suites, or prints no totals: the counts are of symbols."""
    AMBIGUOUS_DIALECT = "AMBIGUOUS_DIALECT"
    """More than one dialect claims the stream."""
    FAILURE_OUTSIDE_TESTS = "FAILURE_OUTSIDE_TESTS"
    """The process ended badly outside any test; what it printed is kept as a failure, its meaning is not judged."""
    ERRORS_UNREPORTABLE = "ERRORS_UNREPORTABLE"
    """The format cannot show an error outside a test, so its points alone do not prove a pass."""
