"""Stack frames of a test runner and of the platform below it: which lines of a region they take.

A frame is told by its place: a path in a runner's own package, or in the platform's part that only starts tests. What a
failing test called is never one, nor a sentence in which such a place stands.
"""

import re
from collections.abc import Sequence

# V8: `at f (node:internal/x:1:2)`, `at node:x:1:2`, `at JSON.parse (<anonymous>)`, and places in a test runner's own
# package. Some producers leave `at` out, put a comment sign, a number or a key before it, or the place on a line of its
# own. A function's name has one or two words (`new Promise`, `async Promise.all`, `Module.load [as x]`), so a sentence
# with a place in it is no frame.
_FUNCTION = r"(?:(?:async|new) )*+[\w.$<>#]++(?: \[as [\w.$<>#]++\])?+"
_PLATFORM = r"(?:node|ext):[^\s():]++(?::[0-9]++){1,2}+"
_PACKAGE = (
    r"[^\s()]*?/node_modules/(?:tape|tap|@tapjs|mocha|ava|vitest|@vitest|jest|jest-[a-z-]++|@jest|supertap|emittery)"
    r"(?![^\s()]*?/node_modules/)/[^\s()]*?(?::[0-9]++){2}"
)
V8 = re.compile(
    rf"\s*+(?:# *+)?+(?:[0-9]++: )?+(?:(?:at:? '?+)?+(?:{_FUNCTION} )?+\((?:{_PLATFORM}|{_PACKAGE})\)"
    rf"|at {_FUNCTION} \(<anonymous>\)|(?:new Promise|[\w$]++\.[\w.$]++) \(<anonymous>\)"
    rf"|(?:at:? )?+(?:async )?+{_PLATFORM}|at:? (?:async )?+{_PACKAGE})(?:'| \{{)?+"
)

# Ruby: `# /…/gems/rspec-core-3.12.0/lib/rspec/core/hooks.rb:381:in 'run'`, and the script that starts it.
RUBY = re.compile(
    r"\s*+(?:# )?+(?:from )?+"
    r"(?:/[^\s:]*?/gems/(?:rspec(?:-core|-expectations|-support|-mocks)?+|minitest)-[0-9][0-9.a-z]*+/[^\s:]++"
    r"|/[^\s:]*?/bin/rspec):[0-9]++(?::in [`'][^'\n]++')?+"
)

# Perl, as Carp prints it: `TAP::Harness::runtests(TAP::Harness=HASH(0x5)) called at /…/TAP/Harness.pm line 55`.
PERL = re.compile(
    r"\t(?:(?:TAP|App::Prove|Test::(?:More|Builder|Harness))(?:::\w++)*+\(|eval \{)(?>.*[)}] called at )"
    r"(?:(?=/\S*?/(?:TAP|App|Test)/)/\S*+|/\S*+(?<=/bin/prove)) line [0-9]++"
)

# Python: `File "/usr/lib/python3.11/unittest/case.py", line 57, in run`; faulthandler leaves the second comma out. What
# stands deeper belongs to it: the source line and the marks below it.
PYTHON = re.compile(
    r'(?:INTERNALERROR> )?+(?P<margin> *+)File "(?:<frozen (?:runpy|importlib\._bootstrap(?:_external)?)>'
    r'|/[^"]*?/python[0-9.]++/(?:unittest/[a-z_]++|runpy)\.py'
    r'|/[^"]*?/(?:site|dist)-packages/(?:_pytest|pytest|pluggy|xdist|execnet|tap)/[^"]++)", line [0-9]++,? in .++'
)

# Go: a call, and below it, after a tab, its place in the packages that run tests and goroutines.
GO = re.compile(r"(?:created by )?+(?:(?:testing|runtime(?:/debug)?+)\.|panic\().*+")
GO_PLACE = re.compile(r"\t/\S*?/src/(?:testing|runtime(?:/debug)?)/\w++\.(?:go|s):[0-9]++(?: \+0x[0-9a-f]++)?+")

# Rust: `   8: core::ops::function::FnOnce::call_once`, and below it its place in the compiler's own library.
RUST = re.compile(r" *+[0-9]++: \S.*+")
RUST_PLACE = re.compile(r" ++at /rustc/[0-9a-f]++/library/[^\s:]++:[0-9]++:[0-9]++")


def frame(texts: Sequence[str], start: int) -> int:
    """How many lines the frame takes that begins at `texts[start]`; 0 if none of theirs begins there."""
    text = texts[start]
    if any(form.fullmatch(text) for form in (V8, RUBY, PERL)):
        return 1
    python = PYTHON.fullmatch(text)
    if python:
        return 1 + _deeper(texts, start + 1, text.index("File "))
    following = texts[start + 1] if start + 1 < len(texts) else ""
    if GO_PLACE.fullmatch(following) and GO.fullmatch(text):
        return 2
    return 2 if RUST_PLACE.fullmatch(following) and RUST.fullmatch(text) else 0


def _deeper(texts: Sequence[str], start: int, margin: int) -> int:
    """How many lines from `start` on are indented by more than `margin` characters."""
    count = 0
    for text in texts[start:]:
        inner = text.removeprefix("INTERNALERROR>")
        if not inner.strip() or len(text) - len(inner.lstrip(" ")) <= margin:
            break
        count += 1
    return count
