"""Where a failure stands in the project's files, for what shows failures beside the source.

A packet holds no such place: runners print it within their text, each in its own way. So places are read from a
failure's lines, and one counts only if the project has a file of that name. A pure function: whoever asks knows the
files. A place is a help to find the failure and nothing more; no verdict hangs on it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from context_firewall.documents.line_places import lines_of

# The category of a line that says where the program was.
STACK_TRACE = "stack_trace"

Known = Callable[[str], str | None]
"""From a path as it is printed to the path in the project, or None where the project has no such file."""


class Place(NamedTuple):
    """A file of the project, and a line in it, from 1, if one is stated."""

    file: str
    line: int | None


# `tests/test_a.py:12: ValueError` (pytest, short tracebacks of Go, Ruby, PHP), `(file:///srv/a.test.mjs:4:28)` (V8),
# `panicked at src/tables.rs:31:9:`, `--> src/tables.rs:14:20` (Rust), `press.cpp:77: no cork`.
_PART = r"[^\s:()'\"\[\]{}<>|\\,;=`]"
# Only where a part begins, so that a long one is read once.
_COLON = rf"(?<!{_PART})(?:file://)?+(?P<colon>{_PART}++):(?P<colon_line>[0-9]{{1,9}})(?![0-9A-Za-z])"
# `File "/srv/a b.py", line 12, in test_a` (Python's own tracebacks).
_PYTHON = r"File \"(?P<python>[^\"\n]++)\", line (?P<python_line>[0-9]{1,9})(?![0-9])"
# `(in test file test/tea.bats, line 12)` (bats), `at tea.t line 5.` (Perl).
_WORDS = r"\b(?:file|at) (?P<words>[^\s,()'\"]++),? line (?P<words_line>[0-9]{1,9})(?![0-9])"
_PLACE = re.compile(f"{_PYTHON}|{_WORDS}|{_COLON}")

# Tracebacks of Python end where it happened; stacks of all others begin there.
_LAST = (".py", ".pyi", ".pyx")
# So much of one failure is looked through: no person follows a longer stack, and a hostile one should cost little.
LINES_AT_MOST = 2_000
PLACES_AT_MOST = 400

# What an identity begins with where it begins with a file: `tests/test_a.py::test_b`, `a.test.ts > b`, `a.test.js › b`.
_FILE_OF_IDENTITY = re.compile(r"(?P<file>[^\n]+?)(?:::| [>›] |:[0-9]+|$)")
# Go prints a file's name without its folder, and the package's path before the test's name.
_PACKAGE = re.compile(r"[\w.~-]++(?:/[\w.~-]++)++")


def place_of_failure(failure: Mapping[str, Any], known: Known) -> Place | None:
    """The place of a packet's failure that says most, or None where no line and no name of it names a known file.

    A stack trace is looked at before other lines. Of several places the innermost wins.
    """
    folders = _folders(failure["identity"])
    places = _known_places(failure, lambda file: _in_folders(file, folders, known))
    first = next(places, None)
    if first is not None and first.file.endswith(_LAST):
        return [first, *(place for place in places if place.file.endswith(_LAST))][-1]
    return first or _place_in_identity(failure["identity"], known)


def _known_places(failure: Mapping[str, Any], known: Known) -> Iterator[Place]:
    """The places of the lines of a stack trace; if there is none, those of the other lines."""
    lines = [line for line in lines_of(failure) if "text" in line][:LINES_AT_MOST]
    stack = [line for line in lines if line["category"] == STACK_TRACE]
    rest = [line for line in lines if line["category"] != STACK_TRACE]
    found = False
    for group in (stack, rest):
        for file, number in islice(_printed_places(group), PLACES_AT_MOST):
            path = known(file)
            if path is not None:
                found = True
                yield Place(path, number)
        if found:
            return


def _printed_places(lines: list[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    """Files and lines as they are printed."""
    for line in lines:
        for match in _PLACE.finditer(line["text"]):
            for form in ("python", "words", "colon"):
                file, number = match[form], match[f"{form}_line"]
                if file and int(number):
                    url = form == "colon" and match[0].startswith("file://")
                    yield unquote(file) if url else file, int(number)


def _place_in_identity(identity: str, known: Known) -> Place | None:
    match = _FILE_OF_IDENTITY.match(identity)
    path = known(match["file"]) if match else None
    return None if path is None else Place(path, None)


def _folders(identity: str) -> list[str]:
    """The folders that a Go package may be, seen from the root of its module: `quay/berths`, `berths`."""
    package = _PACKAGE.match(identity)
    names = package[0].split("/") if package else []
    return ["/".join(names[at:]) for at in range(1, len(names))]


def _in_folders(file: str, folders: list[str], known: Known) -> str | None:
    """The file itself, or the one of that name in one of the folders."""
    bare = "/" not in file and file.endswith(".go")
    candidates = [*(f"{folder}/{file}" for folder in folders), file] if bare else [file]
    return next((path for path in map(known, candidates) if path is not None), None)
