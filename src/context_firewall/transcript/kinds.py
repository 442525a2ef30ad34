"""The kinds of source line. Every line of a run has exactly one.

The first block is the seed's taxonomy; its values are the category strings of published packets. The second block is
what full grammars add (policy v3). SPEC.md, section "Kinds", says what each one holds.
"""

from enum import StrEnum


class Kind(StrEnum):
    """What one source line is; the value is its category string in a packet."""

    SUCCESSFUL_TEST = "successful_test"
    SKIPPED_TEST = "skipped_test"
    FAILED_TEST = "failed_test"
    ASSERTION = "assertion"
    STACK_TRACE = "stack_trace"
    FAILURE_MESSAGE = "failure_message"
    FAILURE_DETAIL = "failure_detail"
    AGGREGATE_SOURCE = "aggregate_source"
    DURATION_SOURCE = "duration_source"
    STRUCTURE = "structure"
    INFORMATIONAL = "informational"
    PROGRESS = "progress"
    BLANK = "blank"
    FATAL_ERROR = "fatal_error"
    TIMEOUT = "timeout"
    ABNORMAL_WARNING = "abnormal_warning"
    UNCLASSIFIED = "unclassified"
    UNCLASSIFIED_BINARY = "unclassified_binary"

    TODO_TEST = "todo_test"
    """A test that its author marked as unfinished or expected to fail: never a failure, always visible."""
    CONTESTED_TEST = "contested_test"
    """A line with the shape of a result that plan, numbering, summary or exit status deny: kept, never counted."""
    DERIVED_FAILURE = "derived_failure"
    """A suite or parent that fails only because a child did, and what it prints about that."""
    PROGRAM_OUTPUT = "program_output"
    """Text that the runner's own grammar attributes to the program under test."""
    RECAP = "recap"
    """A second print of something already read; a cross-check, never a second count."""
    PROCESS_FAILURE = "process_failure"
    """The first line of what a process printed about ending badly outside any test."""
    TEST_DETAIL = "test_detail"
    """Diagnostics that a runner prints under a test that did not fail."""
    FAILURE_CONTEXT = "failure_context"
    """In a failure's region: what the runner repeats for orientation, such as source lines around the failing one."""
    DECLARED_NOISE = "declared_noise"
    """A line that nothing else knows and that the project has declared to be noise."""
