"""The scanner of JUnit XML beside expat: on every document that expat takes, both tell the same."""

from xml.parsers import expat

from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall.transcript.dialects.junit_scan import Judge, Scanner, What, unescaped

Told = list[tuple[str, object]]

NAMES = st.sampled_from(["testsuite", "testcase", "a", "b-c", "é"])
TEXTS = st.sampled_from(
    ["", " ", "\n", "x", "a > b", "]]", "&lt;", "&amp;#60;", "&#233;", "&#x41;", '"', "'", "line\nline\n", "é", "a\tb"]
)
VALUES = st.lists(st.sampled_from(["x", " ", "\n", "\t", "&quot;", "&#10;", ">", "/", "=", "'", "é"]), max_size=4)
ATTRIBUTES = st.dictionaries(st.sampled_from(["name", "time", "message"]), VALUES.map("".join), max_size=2)
ASIDES = st.sampled_from(
    ["<!-- note -->", "<!---->", "<!-- <a> & -->", "<![CDATA[<b> & ]] >]]>", "<![CDATA[]]>", "<?go on?>"]
)
# What makes a document none, as a rule.
FAULTS = st.sampled_from(
    ["<", "&", "]]>", "</a>", "<a", "\x1b", "&nbsp;", "<!-- -- -->", "<a x='1' x='2'/>", '<a x="<"/>']
)


def opened(name: str, attributes: dict[str, str], end: str) -> str:
    pairs = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{name}{pairs}{end}>"


ELEMENTS = st.recursive(
    st.one_of(TEXTS, ASIDES, st.builds(lambda name, more: opened(name, more, "/"), NAMES, ATTRIBUTES)),
    lambda inner: st.builds(
        lambda name, more, parts: f"{opened(name, more, '')}{''.join(parts)}</{name}>",
        NAMES,
        ATTRIBUTES,
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)
DOCUMENTS = st.lists(ELEMENTS, max_size=4).map(lambda parts: f"<testsuites>{''.join(parts)}</testsuites>")


def by_expat(data: bytes) -> Told | None:
    """What expat tells of a document, or None if it is none."""
    told: Told = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda name, attributes: told.append((name, attributes))
    parser.EndElementHandler = lambda name: told.append(("/", name))
    parser.CharacterDataHandler = lambda text: told.append(("text", text))
    try:
        parser.Parse(data, True)
    except expat.ExpatError:
        return None
    return joined(told)


def by_scanner(data: bytes) -> Told:
    """What the scanner tells, line by line."""
    told: Told = []
    scanner = Scanner()
    for line in data.split(b"\n"):
        for token in scanner.tokens(line + b"\n", 0):
            if token.what in (What.OPEN, What.EMPTY):
                told.append((token.name, token.attributes))
            if token.what in (What.CLOSE, What.EMPTY):
                told.append(("/", token.name))
            if token.what is What.TEXT:
                in_a_section = not scanner.between and not scanner.inside
                told.append(("text", (token.body if in_a_section else unescaped(token.body)).decode()))
    return joined(told)


def joined(told: Told) -> Told:
    """Text in one piece, and without the blanks at its ends."""
    result: Told = []
    for what, value in told:
        if what == "text" and result and result[-1][0] == "text":
            result[-1] = ("text", f"{result[-1][1]}{value}")
        else:
            result.append((what, value))
    stripped = [(what, str(value).strip() if what == "text" else value) for what, value in result]
    return [pair for pair in stripped if pair != ("text", "")]


def refused(data: bytes) -> bool:
    """Whether the judge refuses a document that comes line by line."""
    judge, scanner = Judge(), Scanner()
    for line in data.split(b"\n"):
        for _ in scanner.tokens(line + b"\n", 0):
            pass
        judge.read(line + b"\n", unfinished=scanner.inside)
    judge.end()
    return judge.refuses


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(DOCUMENTS)
def test_what_is_well_formed_is_told_alike(text: str) -> None:
    """JUNIT-2."""
    data = text.encode()
    expected = by_expat(data)
    assert expected is not None
    assert not refused(data)
    assert by_scanner(data) == expected


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(DOCUMENTS, FAULTS, st.integers(0, 200))
def test_the_judge_refuses_what_expat_refuses(text: str, fault: str, at: int) -> None:
    """JUNIT-2."""
    data = f"{text[:at]}{fault}{text[at:]}".encode()
    expected = by_expat(data)
    assert refused(data) == (expected is None)
    if expected is not None:
        assert by_scanner(data) == expected
