"""Failed runs whose standard error says all: they broke off before their first test, or ended with a code of their own.

The runner, or the language itself, says so in a form that proves it.

A file that does not compile, a module that is missing, a wrong option. The account is then all there is to know: no
test has run. Each row names a form by its first line, by one that is printed only while files are loaded, and by its
last, so that an account that lacks its head or its end proves nothing.

- mocha awaits `loadFilesAsync`, or calls `loadFiles`, before it runs a test; `handleRequires` comes before that.
  Their frames stand in the stack of an error that a file throws while it is loaded. (mocha 8 to 11)
- deno loads and checks all modules before it runs any: what is wrong with one is an `error:` with its place below; an
  error of a module that runs is `Uncaught`, and `Test failed` closes a failing run. (deno 2)
- PHPUnit loads test files through `FileLoader` or its loader of suites. (PHPUnit 9)
- unittest's `createTests` loads tests before it runs them. (CPython 3.8 to 3.13)
- Perl says `Execution of FILE aborted due to compilation errors.` of the program itself, of which nothing has run then.
- prove cannot tell what a file is that does not exist; the stack leads to its own `run`. (prove 3.44)
- bats says which of the files that it was given does not exist, and ends. (bats 1.2 to 1.13)
- go says of a package's folder that it is not there, or of an option that it has none by that name. (Go 1.19 to 1.27)
- pytest's exit code 4 is that of wrong usage, and of a conftest file that cannot be loaded. (pytest 6 to 9)
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from context_firewall.transcript.lines import Line, bare

ANY = re.compile(rb"[^\n]*+")
# A frame of V8's, or what node prints below the last one of an error with members.
_LAST_FRAME = re.compile(rb"    at [^\n]++|\}|Node\.js v[0-9][^\n]*+")


# What Test::More says at the end of a program that exits with a code of its own, whatever became of its tests.
EXITED = re.compile(rb"# Looks like your test exited with (?P<code>[0-9]{1,3}+) just after (?P<tests>[0-9]{1,9}+)\.")


class Form(NamedTuple):
    """How an account begins, what stands in it, how it ends."""

    first: re.Pattern[bytes] = ANY
    proof: re.Pattern[bytes] = ANY
    last: re.Pattern[bytes] = ANY
    exit_code: int | None = None
    """The only exit code that goes with it."""


FORMS = (
    Form(
        first=re.compile(
            rb"Exception during run: [^\n]++|(?:file://)?+/[^\n]+:[0-9]++"
            rb"|(?:[A-Z][A-Za-z]*)?Error(?: \[[A-Z_]++\])?+: [^\n]++"
        ),
        proof=re.compile(
            rb"    at (?:async )?+(?:exports\.|Mocha\.)?+(?:loadFilesAsync|loadFiles|handleRequires)"
            rb" \([^\n]*?/mocha/lib/[^\n]*+"
        ),
        last=_LAST_FRAME,
    ),
    Form(
        first=re.compile(rb"error: (?!Uncaught|Test failed|\(in )[^\n]++"),
        last=re.compile(rb"    at (?:file|https?)://[^\s]+:[0-9]++:[0-9]++"),
    ),
    Form(
        first=re.compile(rb"Check [^\n]++|TS[0-9]++ \[ERROR\]: [^\n]++"),
        proof=re.compile(rb"error: Type checking failed\."),
        last=re.compile(rb"  hint: Re-run with --no-check to skip type-checking\."),
    ),
    Form(
        first=re.compile(rb"PHP (?:Fatal|Parse) error:  [^\n]++"),
        proof=re.compile(
            rb"#[0-9]++ [^\n]*?/PHPUnit/(?:Util/FileLoader|Runner/[A-Za-z]+Loader)\.php\([0-9]++\): [^\n]++"
        ),
        last=re.compile(rb"  thrown in [^\n]+ on line [0-9]++"),
    ),
    Form(
        first=re.compile(rb"Traceback \(most recent call last\):"),
        proof=re.compile(rb"  File \"[^\"\n]*?/unittest/main\.py\", line [0-9]++, in createTests"),
        last=re.compile(rb"[A-Za-z_][\w.]*+: [^\n]++"),
    ),
    Form(
        first=re.compile(rb"[^\n]+ line [0-9]++(?:\.|, near [^\n]*+)"),
        last=re.compile(rb"Execution of [^\n]++(?<= aborted due to compilation errors\.)"),
    ),
    Form(
        first=re.compile(rb"Cannot detect source of '[^'\n]++'! at [^\n]++"),
        last=re.compile(rb"\tApp::Prove::run\([^\n]+\) called at [^\n]++"),
    ),
    Form(
        first=re.compile(rb"Error: Test file \"[^\"\n]++\" does not exist"),
        last=re.compile(rb"Error: Test file [^\n]++"),
    ),
    Form(
        first=re.compile(rb"stat /[^\n]+: directory not found"),
        last=re.compile(rb"stat /[^\n]+: directory not found"),
    ),
    Form(
        first=re.compile(rb"flag provided but not defined: -[^\n]++"),
        last=re.compile(rb"Run 'go help test' and 'go help testflag' for details\."),
    ),
    Form(first=re.compile(rb"ERROR: [^\n]++|ImportError while loading conftest '[^'\n]++'\."), exit_code=4),
)


def before_any_test(lines: Sequence[Line], exit_code: int) -> bool:
    """Whether an account of why the process failed says that no test has run. `lines`: all of it, in order."""
    texts = [text for line in lines if (text := bare(line.raw)).strip()]
    return bool(texts) and any(_fits(form, texts, exit_code) for form in FORMS)


def exited_behind_all(lines: Sequence[Line], exit_code: int, tests: int) -> bool:
    """Whether Test::More says, and no more than that, that the program exited with that code behind so many tests."""
    found = EXITED.fullmatch(bare(lines[0].raw)) if len(lines) == 1 else None
    return found is not None and (int(found["code"]), int(found["tests"])) == (exit_code, tests)


def _fits(form: Form, texts: Sequence[bytes], exit_code: int) -> bool:
    if form.exit_code not in (None, exit_code):
        return False
    ends = form.first.fullmatch(texts[0].lstrip()) and form.last.fullmatch(texts[-1])
    return bool(ends) and any(form.proof.fullmatch(text) for text in texts)
