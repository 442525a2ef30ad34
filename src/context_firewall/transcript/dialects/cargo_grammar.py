"""What `cargo test` prints, pattern by pattern: cargo and the compiler on stderr, the test harness on stdout.

Bare bytes in (no ANSI, no trailing CR). Every pattern is possessive or looks at each byte once.
"""

import re

# cargo-nextest behind the build: a ruler, and what it says first.
NEXTEST = re.compile(
    rb"(?:\xe2\x94\x80){4,}+\Z| *+Nextest run ID [0-9a-f-]++ with nextest profile: "
    rb"| *+Starting [0-9]++ tests? across [0-9]"
)

# -- the harness (libtest), one block for each test binary ------------------------------------------------------------

# `running N tests`, singular for one; a shuffled run names its seed.
RUNNING = re.compile(rb"running (?P<tests>[0-9]++) tests?+(?: \(shuffle seed: [0-9]++\))?+")
# `test NAME ... OUTCOME`. The name ends at the first ` ... `; how a test is meant to end stands behind its name.
RESULT_BEGINS, RESULT_DOTS = b"test ", b" ... "
MODES = (b" - should panic", b" - compile fail", b" - compile")
OUTCOME = re.compile(
    rb"(?:(?P<ok>ok)|(?P<failed>FAILED(?: \(time limit exceeded\))?+)|(?P<ignored>ignored)(?:, [^\n]*+)?+"
    rb"|(?P<bench>bench: ++[0-9,.]++ ns/iter [^\n]*+))(?: <[0-9.]++s>)?+"
)
# With one thread and without capture the outcome comes alone, or behind what the test printed.
ALONE = {b"ok": "ok", b"FAILED": "failed"}
# -q: a letter for each test, the number so far at the end of a full line and before a failure's own line.
LETTERS = re.compile(rb"(?P<letters>[.iFb]++)(?: (?P<done>[0-9]++)/(?P<all>[0-9]++))?+")
QUIET_FAILED = b" --- FAILED"
SLOW = re.compile(rb"test [^\n]*? has been running for over [0-9]++ seconds")

# After the results: what tests printed, in sections, then their names again; passing ones with --show-output only.
FAILURES, SUCCESSES = b"failures:", b"successes:"
SECTION_BEGINS, SECTION_ENDS = b"---- ", b" stdout ----"
NAMED = b"    "
SUMMED = b"test result:"
SUMMARY = re.compile(
    rb"test result: (?P<word>ok|FAILED)\. (?P<passed>[0-9]++) passed; (?P<failed>[0-9]++) failed; "
    rb"(?P<ignored>[0-9]++) ignored; (?P<measured>[0-9]++) measured(?:; (?P<filtered>[0-9]++) filtered out)?+"
    rb"(?:; finished in [0-9.]++s)?+"
)
# A thread's panic; since Rust 1.91 with the thread's number.
PANIC = re.compile(rb"thread '(?P<thread>[^\n]*?)' (?:\([0-9]++\) )?(?:panicked at |has overflowed its stack)")
# The last line of the first panic's report.
PANIC_ENDS = re.compile(
    rb"note: (?:run with `RUST_BACKTRACE=|Some details are omitted, run with `RUST_BACKTRACE=)[^\n]*+"
)

# Passing tests, taken at once: names without blanks, and those of doc tests.
GREEN = re.compile(
    rb"(?:test [^ \n\r\x1b]++(?: - (?:[^ (\n\r\x1b]++ )?+\(line [0-9]++\))?+"
    rb"(?: - (?:should panic|compile fail|compile))?+"
    rb" \.\.\. (?:ok|ignored|\x1b\[32mok\x1b\(B\x1b\[m|\x1b\[33mignored\x1b\(B\x1b\[m)\r?+\n)++"
)
GREEN_IGNORED = (b" ... ignored", b" ... \x1b[33mignored")

# -- cargo -----------------------------------------------------------------------------------------------------------

# A status: the verb ends in the twelfth column.
STATUS = re.compile(rb" *+(?P<verb>[A-Z][a-z-]++)(?<=\A.{12}) (?P<rest>[^\n]++)")
# A progress bar that a terminal would overwrite.
PROGRESS = re.compile(rb" *+Building \[[=> ]*+\] [^\n]*+")
# A binary is named by its source and its file; by its file alone before cargo 1.54.
BINARY = re.compile(rb"[^`(\n]++\([^()\n]*+\)|[^ `(\n]++(?<=-[0-9a-f]{16})")
# With -v the whole command stands there, and commands of the compiler too.
BINARY_COMMAND = re.compile(rb"`[^\n`]*?deps[/\\][^ /\\`\n]++(?:(?<=-[0-9a-f]{16})|(?<=-[0-9a-f]{16}\.exe))[ `]")
TOLD = re.compile(rb"error: (?:test|doctest|bench) failed, to rerun pass `(?P<target>[^`\n]*+)`")
TOLD_OLD = re.compile(rb"error: (?:test|doctest|bench) failed, to rerun pass '(?P<target>[^'\n]*+)'")
TARGETS = re.compile(rb"error: (?P<count>[0-9]++) targets? failed:")
CAUSED = b"Caused by:"
ABNORMAL = re.compile(rb"note: test exited abnormally; [^\n]*+")
DOCTESTS_RAN = re.compile(rb"all doctests ran in [^\n]*+")

# -- the compiler ----------------------------------------------------------------------------------------------------

ERROR = re.compile(rb"error(?:\[E[0-9]{4}\])?+: (?P<text>[^\n]*+)")
WARNING = re.compile(rb"warning(?:\[[^\]\n]*+\])?+: [^\n]*+")
PLACE = re.compile(rb" *+--> (?P<place>[^ \n][^\n]*+)(?<=[0-9])")
UNCOMPILED = re.compile(
    rb"error: (?P<what>could not (?:compile|document) `[^`\n]++`(?: \([^()\n]++\))?+)"
    rb"(?: due to (?:(?P<count>[0-9]++) )?+previous errors?+)?+(?:; [0-9]++ warnings? emitted)?+"
)
SUMMED_WARNINGS = re.compile(
    rb"warning: `[^`\n]++` \([^()\n]++\) generated [0-9]++ warnings?+(?P<again> \([0-9]++ duplicates?\))?+[^\n]*+"
)
WAITING = b"warning: build failed, waiting for other jobs to finish..."
EXPLAINS = re.compile(
    rb"(?:Some errors have|This error has) (?:a )?+detailed explanations?+: [^\n]*+"
    rb"|For more information about (?:this|an) error, try `rustc --explain E[0-9]++`\."
)
NO_TARGET = re.compile(rb"no (?P<kind>test|bin|example|bench) target named `(?P<name>[^`\n]++)`")
# Behind it cargo says what there is instead: "help: available test targets:" and names, or "Did you mean".
NO_TARGET_MORE = re.compile(rb" |help: |note: |Did you mean |Available ")

OPENS = re.compile(
    rb"running [0-9]++ tests?+(?: \(shuffle seed: [0-9]++\))?+\Z"
    rb"|test result: (?:ok|FAILED)\. [0-9]++ passed; [0-9]++ failed; [0-9]++ ignored; "
    rb"|   Compiling [^ \n]++ v[0-9]|    Finished (?:`[a-z-]++`|test|dev|release|bench) "
    rb"|     Running (?:unittests |`)[^\n]*+|     Running [^ \n]++\.rs \([^()\n]++\)\Z|   Doc-tests [^ \n]++\Z"
    rb"|       Fresh [^ \n]++ v[0-9]|    Blocking waiting for file lock on "
    rb"|error\[E[0-9]{4}\]: |error: could not compile `| *+--> (?:[^.\n]++|\.(?!rs:[0-9]))++\.rs:[0-9]++:[0-9]++\Z"
    rb"|error: (?:test|doctest) failed, to rerun pass [`']|error: no (?:test|bin|example|bench) target named `"
    rb"|error: (?:failed to parse manifest at|failed to run custom build command for|could not find `Cargo\.toml`) "
)


def result(text: bytes) -> tuple[bytes, str] | None:
    """Name and outcome of a test's line, or None."""
    if not text.startswith(RESULT_BEGINS):
        return None
    name, dots, rest = text[len(RESULT_BEGINS) :].partition(RESULT_DOTS)
    found = OUTCOME.fullmatch(rest) if dots and name else None
    return None if found is None else (plain(name), str(found.lastgroup))


def plain(name: bytes) -> bytes:
    """A test's name without how it is meant to end."""
    for mode in MODES:
        name = name.removesuffix(mode)
    return name


def section(text: bytes) -> bytes | None:
    """The test whose output a line announces, or None."""
    if text.startswith(SECTION_BEGINS) and text.endswith(SECTION_ENDS):
        return text[len(SECTION_BEGINS) : -len(SECTION_ENDS)]
    return None
