"""The version stands in two places; they say the same."""

import subprocess
import sys
import tomllib
from pathlib import Path

from context_firewall import __version__

ROOT = Path(__file__).parent.parent


def test_the_version_is_pyprojects() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_importing_the_package_does_not_import_the_command_line() -> None:
    code = "import sys, context_firewall; print([m for m in ('click', 'tap') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
