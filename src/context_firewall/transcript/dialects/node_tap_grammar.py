"""The grammar of node-tap's reporters for people, one pattern a line form.

Patterns see a bare line (no ANSI, no final CR, no newline), but for the two moves of the screen, which see it raw. The
columns are those of the boxes that the reporter lays out: a file's heading and its results stand one blank in, the
details of a result four. In other versions (21.1) results stand at the margin and their details two blanks in; they are
flush.
"""

import re

# What ink writes before it draws anew: the cursor shown or hidden; for each line of the last frame "erase the line, one
# up"; then "erase the line, first column". On a terminal that the frame does not fit, it clears everything.
ERASED = re.compile(rb"(?:\x1b\[\?25[hl])*+((?:\x1b\[2K\x1b\[1A)*+)\x1b\[2K\x1b\[G")
ERASED_LINE = b"\x1b[2K\x1b[1A"
CLEARED = re.compile(rb"(?:\x1b\[\?25[hl])*+\x1b\[2J\x1b\[3J\x1b\[H")

# "Asserts:  8 pass  15 fail  2 skip  3 todo  23 of 28 complete": columns are right-aligned; skip and todo only if there
# are any. What is complete has passed or failed. "Suites:" are files, in the same columns, without a todo.
_COLUMNS = rb" ++([0-9]{1,15}+) pass ++([0-9]{1,15}+) fail(?: ++([0-9]{1,15}+) skip)?+"
_COMPLETE = rb" ++([0-9]{1,15}+) of ([0-9]{1,15}+) complete *+"
ASSERTS = re.compile(rb"Asserts:" + _COLUMNS + rb"(?: ++([0-9]{1,15}+) todo)?+" + _COMPLETE)
SUITES = re.compile(rb"Suites:" + _COLUMNS + rb"()" + _COMPLETE)

BANNER = "  🌈 TEST COMPLETE 🌈".encode()
# " FAIL  test/oven.test.js 2 failed 1 todo 1 skip of 9 13ms": the bare number and "OK" where all passed; the time
# unless it is zero. While a file runs, RUNS.
_TIME = rb"(?: [0-9.]++(?:\xc2\xb5s|ms|s|m|h))?+ *+"
HEADING = re.compile(
    rb" (RUNS|PASS|FAIL|TODO|SKIP)  ([^\n]*?[^ \n])(?: ([0-9]{1,15}+) failed)?+(?: ([0-9]{1,15}+) todo)?+"
    rb"(?: ([0-9]{1,15}+) skip)?+(?: of ([0-9]{1,15}+)| ([0-9]{1,15}+)(?: OK)?+)" + _TIME
)
# A result: failed, skipped, to do, or ✓ passed, where those are asked for; below it, three blanks in, what did not fit.
FAILED, SKIPPED, TODO = "✖".encode(), b"~", "☐".encode()
ENTRY = re.compile(rb" ?+(\xe2\x9c\x96|~|\xe2\x98\x90|\xe2\x9c\x93) *+([^\n]*+)")
FURTHER = re.compile(rb" {3}[^ \n][^\n]*+")
DETAIL = re.compile(rb" {4}[^\n]*+")
# Flush, the rest of a name stands where the details stand; these begin with the file.
FLUSH_DETAIL = re.compile(rb" {2}[^\n]*+")
# Where the log of a run names the place behind a result: "test/oven.test.js:8:5".
PLACE = re.compile(rb"[^ \n]+?:[0-9]++:[0-9]++")
SIGNAL = re.compile(rb"SIG[A-Z0-9]++ *+")

# What a file printed: "1>" (of standard output, what is no TAP) or "2>", and the file. Then its text.
PRINTED = re.compile(rb"[12]> [^\n]++")

# In a result's details: "   8   t.equal(…)", further parts of a long line, and a mark below the line that failed.
SOURCE = re.compile(rb" {4} *+([0-9]{1,9}+)(?: [^\n]*+)?+")
POINTER = re.compile(rb" {4} *+(?:\xe2\x94\x81)*+\xe2\x94\x9b *+")

# The comments that end the run: "# { total: 28, pass: 8, fail: 15, todo: 3, skip: 2 }", zeros left out.
COUNTED = re.compile(rb"# \{ ((?:[a-z]++: [0-9]{1,15}+(?:, )?+)++) \}")
COUNT = re.compile(rb"(?<![a-z])([a-z]++): ([0-9]++)")
COVERAGE = b"# No coverage generated"
TIME = re.compile(rb"# time=[0-9.]++ms")
BAILOUT = re.compile(rb" ?Bailout![^\n]*+")

# What proves the dialect: the totals, or the heading of a file of which not all passed, with its counts.
OPENING = re.compile(
    rb"Asserts: ++[0-9]++ pass ++[0-9]++ fail [^\n]*? complete *+\Z"
    rb"| (?:FAIL|TODO|SKIP)  [^\n]*?[^ \n](?: [0-9]++ failed| [0-9]++ todo| [0-9]++ skip) of [0-9]++%b\Z" % _TIME
)
