"""The package from outside: its version, its names, and what importing it costs."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import context_firewall
from context_firewall import __version__

ROOT = Path(__file__).parent.parent


def test_the_version_is_pyprojects() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_every_public_name_has_a_home() -> None:
    named = {name for names in context_firewall._HOMES.values() for name in names}
    assert named | {"__version__"} == set(context_firewall.__all__)
    assert all(getattr(context_firewall, name) is not None for name in context_firewall.__all__)
    assert set(context_firewall.__all__) <= set(dir(context_firewall))


def test_other_names_are_unknown() -> None:
    with pytest.raises(AttributeError, match="reduce_everything"):
        _ = context_firewall.reduce_everything


def test_importing_the_package_imports_little() -> None:
    code = (
        "import sys, context_firewall\n"
        "print([m for m in ('click', 'tap', 'rfc8785', 'context_firewall.reduction') if m in sys.modules])\n"
        "context_firewall.reduce_test_run\n"
        "print([m for m in ('click', 'tap') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "[]"]
