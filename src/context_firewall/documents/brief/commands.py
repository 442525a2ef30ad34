"""Commands to a CI system, as a brief shows them: what they say of a failure, decoded.

Some reporters put all of a failure on one line, as a command to the system that runs them:

    ::error file=a.test.js,title=suite > test,line=5::Error: boom%0A ❯ a.test.js:5:3        GitHub Actions
    ##teamcity[testFailed name='test' message='boom' details='a.php:5|n' duration='3']       TeamCity

What is no such command, or is not written as its system demands, stands as it is.

GitHub ("Workflow commands"): `%25`, `%0D`, `%0A` are escapes in the message, `%3A` and `%2C` in properties as well.
TeamCity ("Service messages"): `|n`, `|r`, `|x`, `|l`, `|p`, `||`, `|'`, `|[`, `|]` and `|0x` with four hexadecimal
digits are escapes in a value.
"""

import re

_GITHUB = re.compile(r"::(?:error|warning|notice)(?P<properties> (?:[^:\n]|:(?!:))*+)?+::(?P<message>[^\n]*+)")
_PERCENT = re.compile(r"%(25|0D|0A|3A|2C)", re.IGNORECASE)
_TEAMCITY = re.compile(r"##teamcity\[[A-Za-z]++(?P<attributes>(?: ++[A-Za-z]++='(?:[^'|\n\]]|\|[^\n])*+')*+) *+\]")
_ATTRIBUTE = re.compile(r"(?<![A-Za-z])([A-Za-z]++)='((?:[^'|]|\|.)*+)'")
_BAR = re.compile(r"\|(?:0x([0-9A-Fa-f]{4})|([nrxlp|'\[\]]))")
_LETTERS = {"n": "\n", "r": "\r", "x": "\u0085", "l": "\u2028", "p": "\u2029"}

# The values that say what went wrong, and with what word before them; the others place, name or time it.
_TELLING = {"message": "", "details": "", "expected": "expected: ", "actual": "actual: ", "out": "", "text": ""}


def command_lines(text: str, identity: str) -> list[str] | None:
    """What a line of the run says, as lines, if it is such a command, else None. A title that is the identity goes."""
    text = text.removesuffix("\r")
    github = _GITHUB.fullmatch(text)
    if github is not None:
        lines = _annotation(github["properties"] or "", github["message"], identity)
    else:
        teamcity = _TEAMCITY.fullmatch(text)
        if teamcity is None:
            return None
        lines = _service_message(teamcity["attributes"])
    return lines


def _annotation(properties: str, message: str, identity: str) -> list[str]:
    pairs = (pair.partition("=") for pair in properties.strip().split(","))
    given = {key.strip(): _unpercented(value) for key, _, value in pairs}
    said = _unpercented(message).rstrip("\r\n")
    place = ":".join(given[key] for key in ("file", "line", "col", "column") if key in given)
    short = ":".join([given.get("file", "").rpartition("/")[2], *place.split(":")[1:]])
    title = [given["title"]] if given.get("title", identity) != identity else []
    return [*title, *said.split("\n"), *([place] if place and short not in said else [])]


def _service_message(attributes: str) -> list[str]:
    lines: list[str] = []
    for key, value in _ATTRIBUTE.findall(attributes):
        if key in _TELLING and value:
            lines += (_TELLING[key] + _unbarred(value).rstrip("\r\n")).split("\n")
    return lines


def _unpercented(text: str) -> str:
    return _PERCENT.sub(lambda found: chr(int(found[1], 16)), text)


def _unbarred(text: str) -> str:
    return _BAR.sub(lambda found: chr(int(found[1], 16)) if found[1] else _LETTERS.get(found[2], found[2]), text)
