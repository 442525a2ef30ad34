"""What `go test` prints, pattern by pattern; shared by the text dialect and the dialect of `-json`.

A test binary prints its tests, then one bare `PASS` or `FAIL`; the go command prints one line for each package after
the output of its binary, and a bare `FAIL` at the end of a failing run that was given packages. Bare bytes in (no
ANSI, no trailing CR). Every pattern is possessive or looks at each byte once.
"""

import re

PASS, FAIL, SKIP = b"PASS", b"FAIL", b"SKIP"

# `=== <what>` names the test that speaks from here on: only with -v. Names never hold blanks, the runner escapes them.
# NAME came with Go 1.20, ATTR and ARTIFACTS after 1.24; the last two carry more after the name.
BANNER = re.compile(
    rb"=== (?P<what>RUN|PAUSE|CONT|NAME|FUZZ) {1,3}+(?P<name>[^ \t]*+)"
    rb"|=== (?:ATTR|ARTIFACTS) ++(?P<noted>[^ \t]++) [^\n]*+"
)
# `%s--- %s: %s (%s)`: four blanks a level below the outermost test, seconds with two digits.
RESULT = re.compile(
    rb"(?P<indent>(?:    )*+)--- (?P<outcome>PASS|FAIL|SKIP): (?P<name>[^ \t\n]++) \([0-9]++\.[0-9]++s\)"
)
# A benchmark has no duration there, and its name stands with the number of processors.
BENCHMARK = re.compile(rb"(?:    )*+--- (?P<outcome>BENCH|FAIL|SKIP): (?P<name>Benchmark[^ \t\n]*+)")
# The measurements of a benchmark, its bare name while it runs, and what stands above the first one.
MEASUREMENT = re.compile(rb"Benchmark[^ \t]*+(?: *+\t[^\n]*+)?|(?:goos|goarch|pkg|cpu): [^\n]*+")
FUZZING = re.compile(rb"fuzz: (?:elapsed|minimizing)[: ][^\n]*+")

# One line for each package, by the go command.
PASSED_PACKAGE = re.compile(
    rb"ok  \t(?P<package>[^ \t]++)\t(?:\(cached\)|[0-9.]++s)(?:\tcoverage: (?:[^\n\[]++|\[no statements\])*+)?+"
    rb"(?P<none> ?+\[no tests to run\])?+"
)
FAILED_PACKAGE = re.compile(rb"FAIL\t(?P<package>[^ \t]++)(?:\t[0-9.]++s| \[(?P<unbuilt>(?:build|setup) failed)\])")
# A package that has nothing to run: `[no test files]`, or (Go 1.22 on, with -cover) its coverage alone.
EMPTY_PACKAGE = re.compile(
    rb"\?   \t(?P<package>[^ \t]++)\t\[no test files\]|\t(?P<bare>[^ \t]++)\t\tcoverage: [^\n]++"
)

# What the test binary says about itself outside its tests.
REMARK = re.compile(
    rb"coverage: [^\n]++|-test\.shuffle -?+[0-9]++|testing: warning: no tests to run"
    rb"|(?:Failing input written to|To re-run:)[^\n]*+"
)
# The go command about a binary whose output it did not hold.
EXIT_STATUS = re.compile(rb"exit status [0-9]++")
# What the go command says while it prepares.
PREPARES = re.compile(rb"go: (?:downloading|finding|extracting) [^\n]++")

# The compiler's or the vet's messages about one package follow a line with its import path; a second one may
# name the package under test in brackets.
BUILD = re.compile(rb"# (?P<package>[^ \t\[\]:]++)(?: \[(?P<variant>[^ \t\]]++)\])?|# \[(?P<vetted>[^ \t\]]++)\]")
# A message with its place proves that a build failed and did not only warn.
DIAGNOSTIC = re.compile(rb"(?:vet: )?[^ \t:]++\.go:[0-9]++(?::[0-9]++)?+: ")

# A crash: the runtime's first words, the dump of a goroutine, a call in it, and the list of a timeout.
CRASH = re.compile(rb"panic: |fatal error: |SIG[A-Z]++: |unexpected fault address ")
RECOVERED = b"[recovered"
# The place of a stack's frame, with its offset; inlined calls have none. A stack begins with its goroutine.
FRAME = re.compile(rb"\t[^\n:]++:[0-9]++ \+0x[0-9a-f]++")
GOROUTINE = re.compile(rb"goroutine [0-9]++(?: gp=[^ ]++ m=[^\[]++)? \[[^\]]++\]:")
TIMED_OUT = re.compile(rb"panic: test timed out after [0-9a-z.]++")
RUNNING_LIST = b"\trunning tests:"
RUNNING = re.compile(rb"\t\t(?P<name>[^ \t]++) \([0-9a-z.\xc2\xb5]++\)")
TEST_CALL = re.compile(rb"[^ \t(]*?\.(?P<name>(?:Test|Fuzz|Example)[^.( \t]*+)[.(][^\n]*+")
TEST_RUNNER = re.compile(rb"testing\.(?:tRunner|runExample|fRunner)\(")

# The go command about a binary that was stopped from the keyboard; it says nothing of the kind up to Go 1.19.
INTERRUPTED = b"signal: interrupt"

# The race detector's report stands between two rulers; the failing test says that it was the reason.
RULER = b"=================="
RACE = b"race detected during execution of test"

# gotestsum prints go's text in some of its formats, and then a summary, which is none of go's.
SUMMARY = re.compile(rb"=== (?:Skipped|Failed|Errors)|DONE [0-9]++ (?:tests?|runs)[, ][^\n]*+")

# One event of `go test -json`.
EVENT = re.compile(rb'\{(?:"Time":"[^"\\]*+",|"ImportPath":"(?:[^"\\]++|\\.)*+",)?+"Action":"[a-z-]++"(?:,"|\})')

# Where the text of a run begins: lines that nothing but the go command prints in this form.
TEXT_OPENS = re.compile(
    rb"=== (?:RUN   |CONT  |PAUSE |NAME  )[^ \t]++\Z"
    rb"|--- (?:PASS|FAIL|SKIP): (?:Test|Example|Fuzz|Benchmark)[^ \t]*+ \([0-9]++\.[0-9]{2}s\)\Z"
    rb"|ok  \t[^ \t]++\t(?:\(cached\)|[0-9.]++s)"
    rb"|FAIL\t[^ \t]++(?:\t[0-9.]++s| \[(?:build|setup) failed\])\Z"
    rb"|\?   \t[^ \t]++\t\[no test files\]\Z"
    rb"|goos: [a-z0-9]++\Z|-test\.shuffle [0-9]++\Z|testing: warning: no tests to run\Z|panic: test timed out after "
    rb"|go: downloading [^ ]++ v[^ ]++\Z"
    rb"|# [^ \t\[\]:]++ \[[^ \t\]]++(?<=\.test)\]\Z|# [a-z0-9][a-z0-9-]*+(?:\.[a-z0-9-]++)++/[^ \t\[\]:]++\Z"
)
