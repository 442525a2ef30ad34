"""The grammar of ava's default reporter, one pattern a line form. All lines of the report stand two blanks in.

Patterns see a bare line (no ANSI, no final CR, no newline); all are possessive. ✔ and ✘ (before ava 5 ✖) come from the
figures package, as do ℹ, ◌ and the line ─. Before ava 5 no result has a mark in brackets: what failed is told by
its ✖, a test to do is written like one that is skipped, one that is known to fail like one that passed.
"""

import re

TICK = "✔".encode()
CROSS = rb"(?:\xe2\x9c\x98|\xe2\x9c\x96)"

# "✔ title (121ms)": `${tick} ${title}`, with a duration above the threshold. A test marked as failing that fails.
PASSED = re.compile(rb"  \xe2\x9c\x94 (\[expected fail\] )?+[^\n]++")
# "✘ [fail]: title message": what follows the title is the error's message, over as many lines as it has.
FAILED = re.compile(rb"  %b \[(?:fail|unexpected pass)\]: ([^\n]++)" % CROSS)
SELECTED = re.compile(rb"  - \[(skip|todo)\] [^\n]++")
# The same before ava 5: "✖ title message", "- title".
UNMARKED_FAILED = re.compile(rb"  \xe2\x9c\x96 ([^\n]++)")
UNMARKED_SELECTED = re.compile(rb"  - [^\n]++")
# Logs of the test above: "ℹ" and the text, further lines two blanks deeper.
LOG = re.compile(rb"    (?:\xe2\x84\xb9 |  )[^\n]*+")
LINE = "  ─".encode()

# What ava says about a file or the whole run, and what it is called by: the rest of the line, or one of its files.
FILE_FAILED = re.compile(
    rb"  %b (?:No tests found in ([^\n,]++)(?:, make sure to import \"ava\" at the top of your test file)?+"
    rb"|([^\n]+?) exited (?:with a non-zero exit code: [0-9]++|due to [^\n]++)"
    rb"|Internal error when running ([^\n]++)"
    rb"|Exiting due to process\.exit\(\) when running ([^\n]++)"
    rb"|Line numbers for ([^\n]+?) did not match any tests)" % CROSS
)
RUN_FAILED = re.compile(
    rb"  %b (Internal error|Error in shared worker|Couldn\xe2\x80\x99t find any (?:files to test|matching tests)"
    rb"|Based on your configuration, [^\n]++)" % CROSS
)
# This alone, of a file that imports ava, fails no run that has tests in other files.
NO_TESTS = re.compile(rb"  %b No tests found in [^\n,]++" % CROSS)
OUTSIDE = re.compile(rb"  (?:Uncaught exception|Unhandled rejection) in ([^\n]++)")
TIMED_OUT = re.compile(rb"  %b Timed out while running tests" % CROSS)
INTERRUPTED = re.compile(rb"  %b Exiting due to SIGINT" % CROSS)
PENDING_IN = re.compile(rb"  (?:[0-9]++ tests were pending in|Failed to exit when running) [^\n]++")
PENDING = re.compile(rb"  \xe2\x97\x8c ([^\n]++)")
REMAINING = re.compile(rb"  %b [0-9]++ tests? remaining in [^\n]++" % CROSS)
WARNED = re.compile(rb"  \xe2\x9a\xa0 [^\n]++")
SEED = re.compile(rb"  Randomized test order with seed [0-9]++\. [^\n]++")

# The totals, each only if it is not zero; tests that passed only if nothing failed. In this order.
TOTALS = (
    ("hooks", re.compile(rb"  ([0-9]{1,15}+) hooks? failed")),
    ("failed", re.compile(rb"  ([0-9]{1,15}+) tests? failed")),
    ("passed", re.compile(rb"  ([0-9]{1,15}+) tests? passed")),
    ("known", re.compile(rb"  ([0-9]{1,15}+) known failures?")),
    ("skipped", re.compile(rb"  ([0-9]{1,15}+) tests? skipped")),
    ("todo", re.compile(rb"  ([0-9]{1,15}+) tests? todo")),
    ("rejections", re.compile(rb"  ([0-9]{1,15}+) unhandled rejections?")),
    ("exceptions", re.compile(rb"  ([0-9]{1,15}+) uncaught exceptions?")),
    ("pending", re.compile(rb"  ([0-9]{1,15}+) tests? remained pending after a timeout")),
    ("previous", re.compile(rb"  ([0-9]{1,15}+) previous failures? in test files that were not rerun")),
)
PARALLEL = re.compile(rb"  Ran [0-9]++ test files? out of [0-9]++ for job [0-9]++ of [0-9]++")
FAIL_FAST = re.compile(rb"  `--fail-fast` is on\. [^\n]++")
NOTHING = re.compile(rb"  No files tested in this parallel run")

# In an account: "file.test.js:6", then source lines "5: …" around it; frames of ava and of Node.
SOURCE = re.compile(rb"  [^\n ][^\n]*?:([0-9]++)")
EXCERPT = re.compile(rb" *+([0-9]++): [^\n]*+")
OWN_FRAME = re.compile(rb"  ++at [^\n]*?(?:/node_modules/ava/|\(?node:)[^\n]*+")

# What proves the dialect: titles behind their file's name, as several files have them; marks that no other reporter
# prints; the line that ends the results.
OPENING = re.compile(
    rb"  \xe2\x9c\x94 [^\n]+? \xe2\x80\xba |  \xe2\x9c\x94 \[expected fail\] |  %b \[(?:fail|unexpected pass)\]: "
    rb"|  \xe2\x9c\x96 [^\n]+? \xe2\x80\xba |  - \[(?:skip|todo)\] |  \xe2\x94\x80\Z|  Randomized test order with seed "
    rb"|  %b (?:No tests found in |Couldn\xe2\x80\x99t find any (?:files|matching)|Timed out while running tests\Z"
    rb"|Exiting due to process\.exit\(\) when running |[^\n]+? exited with a non-zero exit code: [0-9]++\Z)"
    rb"|  (?:Uncaught exception|Unhandled rejection) in [^\n]+?\.[cm]?[jt]sx?\Z" % (CROSS, CROSS)
)
LANE = re.compile(rb"(?:  \xe2\x9c\x94 [^\n\[\x1b\r]++\n)++")
