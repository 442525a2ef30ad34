"""The words of programs that run tests and measure coverage (READ-19)."""

import re

import pytest

from context_firewall.transcript.facts import Transcript
from context_firewall.transcript.kinds import Kind
from context_firewall.transcript.noise import NoiseRule
from context_firewall.transcript.reader import read_streams
from context_firewall.transcript.surroundings import FORMS

GREEN = "1..1\nok 1 - pours\n"
RED = "1..1\nnot ok 1 - pours\n  ---\n  at: pot.js\n  ...\n"

TEXTS = {
    "npm": "npm notice\nnpm notice New major version of npm available! 10.9.0 -> 11.0.0\n",
    "yarn": "yarn run v1.22.22\n$ node --test\n\nDone in 0.52s.\n",
    "yarn help": (
        "yarn run v1.22.22\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.\n"
    ),
    "make": "make[1]: Entering directory '/srv/tea'\ngmake: Leaving directory '/srv/tea'\n",
    "tox": (
        ".pkg: _optional_hooks> python -m pyproject_api\npy311: install_deps> python -I -m pip install pytest\n"
        "py311: commands[0]> pytest -q\n  py311: OK (1.86=setup[1.12]+cmd[0.75] seconds)\n"
        "  py312: SKIP (0.01 seconds)\n"
        "  py313: OK \u2714 in 1.5 seconds\n  congratulations :) (1.92 seconds)\n"
    ),
    "nox": (
        "nox > Running session tests\nnox > Creating virtual environment (virtualenv) in .nox/tests\n"
        "nox > python -m pip install pytest\nnox > /usr/bin/pytest -q\nnox > Session tests was successful.\n"
        "nox > Session tests was successful in 2 seconds.\nnox > Ran multiple sessions:\nnox > * tests: success\n"
    ),
    "uv": (
        "Using CPython 3.12.4\nCreating virtual environment at: .venv\nResolved 2 packages in 3ms\n"
        "Installed 2 packages in 1.20s\n + pytest==8.4.2\n - pluggy==1.0\n"
    ),
    "nx": (
        "\n NX   Running target test for 2 projects:\n\n- cups\n- pots\n\n> nx run cups:test\n"
        "> nx run pots:test  [existing outputs match the cache, left as is]\n"
        " NX   Successfully ran target test for 2 projects\n\n"
        "Nx read the output from the cache instead of running the command for 1 out of 2 tasks.\n"
    ),
    "lerna": (
        "lerna notice cli v9.0.7\nlerna info ci enabled\n"
        " Lerna (powered by Nx)   Running target test for 2 projects:\n- cups\n> cups:test\n"
        " Lerna (powered by Nx)   Successfully ran target test for 2 projects\n"
    ),
    "pnpm": "Scope: 2 of 3 workspace projects\nScope: all 3 workspace projects\n",
    "turbo": (
        "   \u2022 Packages in scope: cups, pots\n   \u2022 Running test in 2 packages\n"
        " Tasks:    2 successful, 2 total\nCached:    0 cached, 2 total\n  Time:    476ms >>> FULL TURBO\n"
    ),
    "time": "\nreal\t0m0.452s\nuser\t0m0.197s\nsys\t0m0.039s\n",
    "coverage": (
        "Name          Stmts   Miss Branch BrPart  Cover   Missing\n"
        "--------------------------------------------------------\n"
        "my pot.py         7      1      2      0    86%   3, 9->11\n"
        "--------------------------------------------------------\n"
        "TOTAL             7      1      2      0  85.71%\n\n"
        "1 file skipped due to complete coverage.\n1 empty file skipped.\n"
    ),
    "istanbul": (
        "----------|---------|----------|---------|---------|-------------------\n"
        "File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s \n"
        "----------|---------|----------|---------|---------|-------------------\n"
        "All files |     100 |       50 |     100 |     100 |                   \n"
        " pot.js   |     100 |       50 |     100 |     100 | 1                 \n"
        "----------|---------|----------|---------|---------|-------------------\n"
    ),
    "istanbul summary": (
        "=============================== Coverage summary ===============================\n"
        "Statements   : 91.66% ( 11/12 )\nBranches     : 100% ( 2/2 ), 1 branch ignored\n"
        "Functions    : 80% ( 4/5 )\nLines        : 91.66% ( 11/12 )\n"
        "================================================================================\n"
    ),
}
FAILS = {
    "npm": "npm ERR! Test failed.  See above for more details.\n",
    "npm workspaces": (
        "npm error Lifecycle script `test` failed with error:\nnpm error code 1\nnpm error path /srv/tea\n"
        "npm error workspace tea@1.0.0\nnpm error location /srv/tea\nnpm error command failed\n"
        "npm error command sh -c node --test\n"
    ),
    "pnpm": "\u2009ELIFECYCLE\u2009 Test failed. See above for more details.\n",
    "pnpm run": " ELIFECYCLE  Command failed with exit code 1.\n",
    "pnpm in brackets": "[ELIFECYCLE] Command failed with signal SIGTERM.\n",
    "pnpm recursive": (
        'Error: ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL\n  \u00d7 "pnpm recursive run" failed in /srv/tea/cups\n'
        "\u2009ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL\u2009 cups@1.0.0 test: `node --test`\nExit status 1\n"
    ),
    "turbo": (
        " Tasks:    1 successful, 2 total\nFailed:    cups#test\nERROR: command finished with error: npm\n"
        "cups#test:  ERROR  command (/srv/cups) npm run test exited (1)\n ERROR  run failed: command  exited (1)\n"
    ),
    "yarn": "error Command failed with exit code 1.\n",
    "yarn signal": 'error Command failed with signal "SIGKILL".\n',
    "make": (
        "make[1]: *** [Makefile:7: test] Error 1\nmake[1]: Target 'all' not remade because of errors.\n"
        "make: *** Waiting for unfinished jobs....\n"
    ),
    "tox": (
        "py311: exit 1 (0.44 seconds) /srv/tea> pytest -q pid=6272\n"
        "  py311: FAIL code 1 (0.50=setup[0.06]+cmd[0.44] seconds)\n"
        "  py312: FAIL \u2716 in 0.5 seconds\n  evaluation failed :( (0.59 seconds)\n"
    ),
    "nox": "nox > Command pytest -q failed with exit code 1\nnox > Session tests failed.\nnox > * tests: failed\n",
    "deno": "error: Test failed\n",
    "bun": 'error: script "test" exited with code 1\n',
    "nx": " NX   Running target test for 2 projects failed\nFailed tasks:\n- cups:test\n",
    "just": "error: Recipe `test` failed on line 2 with exit code 1\n",
}


def read(stdout: str, stderr: str, code: int, *rules: NoiseRule) -> Transcript:
    """A run in two streams."""
    streams = [("stdout", [stdout.encode()]), ("stderr", [stderr.encode()])]
    return read_streams(streams, exit_code=code, noise=rules)


def formed(text: str) -> set[str]:
    """The forms of a text's lines, whatever stands above them."""
    names = set()
    for line in text.splitlines():
        raw = line.encode()
        names |= {name for name, form in FORMS.items() if re.fullmatch(form.pattern, raw)}
    return names


def test_every_form_has_its_example() -> None:
    assert formed("".join((*TEXTS.values(), *FAILS.values()))) >= FORMS.keys()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_stands_around_a_run_is_counted(text: str) -> None:
    for stdout, stderr in ((GREEN, text), (GREEN + text, "")):
        transcript = read(stdout, stderr, 0)
        assert not transcript.unclassified
        assert not transcript.doubts
        assert transcript.suppressed[Kind.INFORMATIONAL] == sum(1 for line in text.splitlines() if line)


@pytest.mark.parametrize("text", FAILS.values(), ids=FAILS)
def test_that_a_command_failed_is_a_warning_where_a_test_did(text: str) -> None:
    """P2: it may have been another command, so it is shown."""
    transcript = read(RED, text, 1)
    assert [failure.identity for failure in transcript.failures] == ["pours"]
    assert [line.raw.decode() for line in transcript.warnings] == text.splitlines()
    assert not transcript.unclassified
    assert not transcript.doubts


@pytest.mark.parametrize("text", FAILS.values(), ids=FAILS)
def test_that_the_command_failed_is_the_only_witness_elsewhere(text: str) -> None:
    """Also where the exit code is lost: then nothing else says that the run is no success."""
    said = text.splitlines()
    assert [line.raw.decode() for line in read(GREEN, text, 0).unclassified] == said
    (failure,) = read(GREEN, text, 1).failures
    assert [line.raw.decode() for line in failure.lines()] == said
    assert [line.raw.decode() for line in read(RED, text, 0).unclassified] == said


@pytest.mark.parametrize("text", [*TEXTS.values(), *FAILS.values()], ids=[*TEXTS, *FAILS])
def test_no_declared_noise_takes_what_is_known(text: str) -> None:
    """READ-11: nor the line that another one is known by."""
    rules = [NoiseRule(prefix=line) for line in text.splitlines() if line]
    for stdout, code in ((GREEN, 0), (RED, 0), (RED, 1)):
        for declared in (rules, rules[:1]):
            assert read(stdout, text, code, *declared) == read(stdout, text, code)


@pytest.mark.parametrize(
    "text",
    [
        "yarn run\n",
        "$ boil water\n",
        "Done in 0.52s.\n",
        "error Command failed.\n",
        "npm error code 1\n",
        "npm error Missing script: test\n",
        "make: *** No rule to make target 'tea'.  Stop.\n",
        "make: brewing\n",
        "tea: boil> water\n",
        "py311: OK\n",
        "nox > Session tests aborted: no tea.\n",
        "nox > Error: no tea\n",
        "Resolved tea\n",
        " + pytest==8.4.2\n",
        "> cups:test\n",
        "Exit status 1\n",
        "Cached:    0 cached, 2 total\n",
        "- cups\n",
        "- cups:test\n",
        "Failed tasks:\n",
        "user\t0m0.1s\n",
        "--------------------------------------------------------\n",
        "my pot.py         7      1    86%\n",
        " pot.js   |     100 |       50 |     100 |     100 | 1\n",
    ],
)
def test_what_is_none_of_it(text: str) -> None:
    for code in (0, 1):
        assert [line.raw.decode() for line in read(RED, text, code).unclassified] == text.splitlines()


def test_another_table_is_no_table_of_istanbuls() -> None:
    """P4: six columns prove nothing; the heading and the numbers do."""
    rule = "-" * 9 + ("|" + "-" * 9) * 5
    text = f"{rule}\nstep | a | b | c | d | e\n{rule}\nboil | bad | 0 | 0 | 0 | spilt\n"
    left = [line.raw.decode() for line in read(GREEN, text, 0).unclassified]
    assert left == ["step | a | b | c | d | e", "boil | bad | 0 | 0 | 0 | spilt"]


def test_a_line_stands_right_below() -> None:
    text = "yarn run v1.22.22\ntea\n$ boil water\n"
    assert [line.raw for line in read(GREEN, text, 0).unclassified] == [b"tea", b"$ boil water"]


def test_contested_results_keep_their_surroundings() -> None:
    transcript = read("1..2\nok 1\nnot ok 7\nok 2\nnpm notice\n", "", 0)
    assert b"npm notice" in [line.raw for line in transcript.unclassified]
