"""Command lines that run tests and how they are rewritten, and those that are left alone."""

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_firewall.cli.agents.shell import simple_commands
from context_firewall.cli.agents.test_commands import rewritten, runs_tests

# `@` is where the prefix goes; `⏎` is the end of a line.
REWRITTEN = r"""
@npm test
@npm t
@npm run test
@npm run test:unit
@npm run -s test
@npm --prefix web test
@npm -w packages/api test
@npm --workspace=api run test
@npm test -- --grep price
@pnpm test
@pnpm -r test
@pnpm --filter ./web test
@pnpm exec vitest run
@yarn test
@yarn run test:e2e
@yarn jest src/price
@yarn exec mocha
@npx jest
@npx --no-install vitest run
@npx -y mocha spec
@jest --ci
@./node_modules/.bin/jest price.test.js
@vitest run --reporter=verbose
@mocha 'spec/**/*.js'
@node --test
@node --test --test-reporter=spec test/*.js
@node --experimental-vm-modules --test
@node --import tsx --test test/*.ts
@pytest
@pytest -q tests/test_price.py::test_total
@pytest "$FILES"
@pytest -k 'price and not slow'
@.venv/bin/pytest -x
@python -m pytest -q
@python3.12 -m pytest
@python -B -W error -m unittest discover
@python3 -m unittest tests.test_price
@coverage run --branch -m pytest
@python -m coverage run -m pytest
@uv run pytest -q
@poetry run python -m pytest
@go test ./...
@go test -v -run TestPrice ./rates
@cargo test
@cargo +nightly test --workspace
@cargo nextest run
@make test
@make -j 4 -C build check
@make test VERBOSE=1
@just test
@turbo run test
@turbo test test:unit --continue
@npx turbo run test
@lerna run test --stream
@nx test cups
@nx run cups:test
@nx run-many -t test
@nx affected --target=test,test:unit
@npx nx run-many --targets=test
@bundle exec rspec
@rspec spec/models
@vendor/bin/phpunit --filter Price
@ctest --output-on-failure
@prove -l t
@bats test.bats
@deno test
cd web && @npm test
cd 'my project' && CI=1 @npm test
CI=1 NODE_ENV=test @npm test
@npm test 2>&1
@npm test 2>/dev/null
@npm test </dev/null
@pytest || true
@pytest; echo $?
npm ci && @npm test && npm run lint
@pytest tests/a && @pytest tests/b
git stash; @cargo test; git stash pop
@npm test # the whole suite
cat log | grep x; @go test ./...
cd web⏎@npm test
cd web \⏎  && @npm test
cd web &&⏎⏎  @npm test
@npm test ||⏎  echo "it failed"
set -e; @npm test
set -o pipefail⏎@go test ./...
source .venv/bin/activate && @pytest -q
# all of them⏎@npm test
export CI=1; @npm test
A="$B c" @npm test
@np\m test
@'npm' "test"
@npm test -- -t 'a | b; c && d > e'
@npm test -- --watchAll=false
@go test -json ./...
@mocha --reporter tap
@vitest --coverage
@python -m unittest -v
""".strip().split("\n")

LEFT_ALONE = """
npm run build
npm install test
npm run tests-report
npm run test:watch
npm test -- --watch
npm --help test
npm
pnpm install
yarn add jest
yarn workspace web test
npx playwright test
npx -p jest jest
jest --watch
jest --json
jest --listTests
vitest watch
vitest --ui
vitest bench
mocha --watch
node app.js
node app.js --test
node --import --test app.js
node --test --watch
node --test --inspect-brk
pytest --collect-only
pytest --pdb
pytest --help
python -m pip install pytest
python test.py
python -m pytest --co
coverage report
python -m coverage html
uv pip install pytest
poetry install
go test -c ./rates
go build ./...
go test -list .
cargo build
cargo test --no-run
cargo test -- --list
make
make build
make test install
just
just build
just test build
just --list
turbo run build test
turbo run dev
turbo run test --graph
turbo run test --filter cups
lerna run build
lerna version
nx build cups
nx run cups:build
nx run-many -t build test
nx run-many
nx graph
nx run-many -t build,test
make -n test
ctest -N
rspec --version
npm test | tail -20
npm test 2>&1 | grep FAIL
npm test |& cat
cat list | pytest
pytest > out.txt
pytest >> out.txt 2>&1
pytest &> out.txt
pytest 2> err.txt
pytest >&2
npm test &
(npm test)
{ npm test; }
if npm test; then echo ok; fi
for f in *.py; do pytest "$f"; done
! npm test
time npm test
$RUNNER test
npm $WHAT
pytest $(git diff --name-only)
pytest `ls tests`
pytest <<EOF
diff <(pytest a) <(pytest b)
pytest "unclosed
pytest 'unclosed
echo "npm test"
echo npm test
git commit -m 'npm test'
sudo npm test
timeout 60 npm test
docker compose exec app pytest
bash -c 'npm test'
CONTEXT_FIREWALL=off npm test
cd web && CONTEXT_FIREWALL=off pytest
context-firewall run -- npm test
npm test &&
&& npm test
npm test ;; ls
f() { npm test; }
PATH=/opt/node/bin npm test
export PATH=/opt/node/bin:$PATH; npm test
exec >log.txt; npm test
eval "$SETUP"; npm test
alias npm=pnpm; npm test
npm test <<<yes
npm test 3>&1
""".strip().split("\n")


@pytest.mark.parametrize("row", REWRITTEN)
def test_a_command_that_runs_tests_gets_the_prefix(row: str) -> None:
    row = row.replace("⏎", "\n")
    assert rewritten(row.replace("@", ""), "@") == row


@pytest.mark.parametrize("line", LEFT_ALONE)
def test_anything_else_is_left_alone(line: str) -> None:
    assert rewritten(line) is None


def test_the_table_is_long_enough_and_half_of_it_is_left_alone() -> None:
    assert len(REWRITTEN) + len(LEFT_ALONE) >= 80
    assert abs(len(REWRITTEN) - len(LEFT_ALONE)) <= 20


def test_what_is_rewritten_once_is_left_alone() -> None:
    assert rewritten("cd web && context-firewall run -- npm test") is None


PIECES = [
    "a",
    "b",
    " ",
    "\t",
    "'",
    "' '",
    "'\\'",
    '"',
    '"c d"',
    '\\"',
    "\\ ",
    "\\\n",
    "\\a",
    '"\\a"',
    "=",
    "2",
    "#",
    "''",
]
PLAIN = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(PLAIN)
def test_words_are_those_of_the_shell(line: str) -> None:
    """Where a line is plain, a real shell takes its literal words as this reads them."""
    commands = simple_commands(line)
    if commands is None or len(commands) != 1 or commands[0].redirections or commands[0].followed_by:
        return
    words = commands[0].words
    if not words or not all(word.literal for word in words):
        return
    shown = subprocess.run(
        ["/bin/sh", "-c", "printf '%s\\0' " + line[words[0].start :]], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split("\0")[:-1] == [word.text for word in words]


def test_words_agree_with_another_reader_of_shell_words() -> None:
    line = "a 'b c' \"d \\\" e\" f\\ g ''"
    commands = simple_commands(line)
    assert commands is not None
    assert [word.text for word in commands[0].words] == shlex.split(line)


def test_long_lines_take_linear_time() -> None:
    """Each of them would take long if time grew with the square; the whole test takes a moment."""
    for unit in ("a ", "'", '"', "\\", "$a", "a=b ", "2>&1 ", "a;", "a|", "#", "\n", "{", "a&&"):
        simple_commands(unit * 8_000)


STUBS = (
    "npm npx pnpm yarn node jest mocha vitest deno pytest python python3 python3.12 coverage uv poetry go cargo make"
    " bundle rspec ctest prove bats git cat"
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the folders that the table's lines go to, and a program of each name that tells what it got."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "web").mkdir()
    (folder / "my project").mkdir()
    programs = folder / "bin"
    programs.mkdir()
    for name in STUBS.split():
        program = programs / name
        program.write_text('#!/bin/sh\nprintf "%s|" "${0##*/}" "$PWD" "$@" "$CI" "$A"\necho tests >&2\nexit 3\n')
        program.chmod(0o755)
    return folder


@pytest.mark.parametrize("row", REWRITTEN)
def test_a_real_shell_gives_the_command_the_same_words_place_and_status(row: str, desk: Path) -> None:
    """HOOK-2: env stands for us; like us it runs the words that follow and ends as they do."""
    line = row.replace("⏎", "\n")
    ends = []
    for prefix in ("", "env "):
        ended = subprocess.run(
            ["/bin/sh", "-c", line.replace("@", prefix)],
            capture_output=True,
            cwd=desk,
            env={"PATH": f"{desk / 'bin'}:/usr/bin:/bin"},
            check=False,
        )
        ends.append((ended.returncode, ended.stdout))
    assert ends[0] == ends[1]


def test_no_words_run_no_tests() -> None:
    assert not runs_tests([])
    assert not runs_tests([""])
