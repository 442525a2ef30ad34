"""The house in step: registry, corpus, documentation and specification name the same things."""

import json
import re
from collections import Counter
from enum import StrEnum
from functools import cache
from pathlib import Path

import pytest

from context_firewall.conformance.runner import Fixture, find_fixtures
from context_firewall.documents import reasons
from context_firewall.documents.test_run_input import parse_test_run_input
from context_firewall.errors import ContextFirewallError
from context_firewall.reduction.pipeline import DEFAULT_POLICY, POLICIES
from context_firewall.reduction.verdict import Disposition, Reason, Status
from context_firewall.transcript.dialects import REGISTRY
from context_firewall.transcript.doubts import Doubt
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.lines import bare
from context_firewall.transcript.machine import Dialect
from context_firewall.transcript.reader import read_streams

ROOT = Path(__file__).resolve().parents[1]
SPEC = (ROOT / "SPEC.md").read_text(encoding="utf-8")
REFERENCE = ROOT / "docs" / "reference"

RULE = re.compile(r"^- \*\*([A-Z]+-?[0-9]+)\*\*", re.MULTILINE)
RULES = tuple(RULE.findall(SPEC))
# A citation looks like a rule's id and begins as one of them does; `UTF-8` and `SHA-256` do not.
FAMILIES = "|".join(sorted({rule.partition("-")[0] for rule in RULES if "-" in rule}))
CITATION = re.compile(rf"\b((?:{FAMILIES})-[0-9]+|P[1-9])\b")

CODES: tuple[StrEnum, ...] = (*Doubt, *Reason)


def in_code(text: str, word: str) -> bool:
    """Whether a page has a word set as code."""
    return f"`{word}`" in text


# -- the specification ------------------------------------------------------------------------------------------------


def test_rules_are_numbered_without_gaps() -> None:
    assert [rule for rule, n in Counter(RULES).items() if n > 1] == []
    families: dict[str, list[int]] = {}
    for rule in RULES:
        family, number = re.fullmatch(r"([A-Z]+)-?([0-9]+)", rule).groups()  # type: ignore[union-attr]
        families.setdefault(family, []).append(int(number))
    assert all(sorted(numbers) == list(range(1, len(numbers) + 1)) for numbers in families.values()), families


def test_every_rule_that_is_cited_exists() -> None:
    cited = {
        (path.relative_to(ROOT).as_posix(), rule)
        for folder, pattern in (("tests", "*.py"), ("src", "*.py"), ("docs", "*.md"))
        for path in (ROOT / folder).rglob(pattern)
        for rule in CITATION.findall(path.read_text(encoding="utf-8"))
    }
    cited |= {("THEORY.md", rule) for rule in CITATION.findall((ROOT / "THEORY.md").read_text(encoding="utf-8"))}
    cited |= {("SPEC.md", rule) for rule in CITATION.findall(SPEC)}
    assert {(place, rule) for place, rule in cited if rule not in RULES} == set()


@pytest.mark.parametrize("code", CODES)
def test_every_reason_code_is_documented(code: StrEnum) -> None:
    """REASON-1 and those after it: one rule a code; its row in the reference; its advice in the brief."""
    assert len(re.findall(rf"^- \*\*REASON-[0-9]+\*\* `{code}`:", SPEC, re.MULTILINE)) == 1
    page = (REFERENCE / "reason-codes.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^\| `{code}`", page, re.MULTILINE)) == 1
    assert code in reasons.ADVICE


def test_no_other_reason_code_is_documented() -> None:
    page = (REFERENCE / "reason-codes.md").read_text(encoding="utf-8")
    named = {*re.findall(r"^\| `([A-Z0-9_]+)`", page, re.MULTILINE), *reasons.ADVICE}
    named |= set(re.findall(r"^- \*\*REASON-[0-9]+\*\* `([A-Z0-9_]+)`", SPEC, re.MULTILINE))
    assert named == {str(code) for code in CODES}


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_documented(kind: Kind) -> None:
    """KIND-1: the kinds are a closed set."""
    for text in (SPEC, (REFERENCE / "kinds.md").read_text(encoding="utf-8")):
        assert len(re.findall(rf"^\| `{kind}` \|", text, re.MULTILINE)) == 1


def test_statuses_dispositions_and_errors_are_documented() -> None:
    errors = {error.code for error in ContextFirewallError.__subclasses__()} | {ContextFirewallError.code}
    for word in (*Status, *Disposition, *errors):
        assert in_code(SPEC, word), word


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("documents/*.py")), ids=lambda path: path.stem)
def test_every_protocol_string_is_in_the_specification(path: Path) -> None:
    """DOC-1: a document has a protocol string, and the specification a section for it."""
    for protocol in re.findall(r'^(?:PROTOCOL|SCHEMA) = "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
        assert in_code(SPEC, protocol)


# -- policies and dialects --------------------------------------------------------------------------------------------


def test_every_policy_and_its_ladder_is_documented() -> None:
    """PKT-11 and RET-1."""
    page = (REFERENCE / "policies.md").read_text(encoding="utf-8")
    for policy in POLICIES:
        row = next(line for line in page.splitlines() if line.startswith(f"| `{policy.revision}` |"))
        assert ", ".join(rung.name for rung in policy.ladder) in row
        assert all(f"*{rung.name}*" in SPEC for rung in policy.ladder)


@pytest.mark.parametrize("row", REGISTRY, ids=lambda row: row.name)
def test_every_dialect_has_its_page(row: Dialect) -> None:
    page = (REFERENCE / "dialects" / f"{row.name}.md").read_text(encoding="utf-8")
    assert in_code(page, f"--dialect {row.name}")
    checked = row.dialect.checked.replace("\n", " ")
    assert f"Checked on real output of {checked}." in " ".join(page.split())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"(docs/reference/dialects/{row.name}.md)" in readme


def test_every_page_has_its_dialect() -> None:
    assert {path.stem for path in (REFERENCE / "dialects").glob("*.md")} == {row.name for row in REGISTRY}


def _printed(fixture: Fixture) -> bytes:
    """What a fixture's run printed on standard output; nothing for an envelope that is refused."""
    envelope = fixture.folder / "input.json"
    if not envelope.exists():
        found = [fixture.folder / name for name in ("stdout.txt", "stdout.bin")]
        return b"".join(path.read_bytes() for path in found if path.exists())
    try:
        run = parse_test_run_input(envelope.read_bytes())
    except ContextFirewallError:
        return b""
    return b"".join(stream.data for stream in run.streams if stream.name == "stdout")


@cache
def dialect_fixtures() -> tuple[tuple[str, bytes], ...]:
    """The fixtures under a policy that has dialects: the dialect that each names, and what its run printed."""
    revisions = {policy.revision for policy in POLICIES if policy.dialects}
    found = []
    for fixture in find_fixtures(ROOT / "conformance"):
        path = fixture.folder / "options.json"
        options = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if options.get("policy", DEFAULT_POLICY) in revisions:
            found.append((options.get("dialect", "auto"), _printed(fixture)))
    return tuple(found)


@pytest.mark.parametrize("row", REGISTRY, ids=lambda row: row.name)
def test_every_dialect_has_fixtures(row: Dialect) -> None:
    fixtures = dialect_fixtures()
    if not fixtures:
        pytest.skip("the corpus has no fixture yet under a policy with dialects")
    read = 0
    for named, data in fixtures:
        opens = named == row.name or (named == "auto" and any(row.opens(bare(line)) for line in data.split(b"\n")))
        if opens and read_streams([("stdout", [data])], exit_code=None, dialect=row.name).has_results:
            read += 1
    assert read
