"""Which lines of a region are the runner's own frames, and which only look alike."""

import pytest

from context_firewall.documents.brief.runner_frames import frame

FRAMES = {
    "a module": "    at Module._load (node:internal/modules/cjs/loader:1299:12)",
    "a package": "    at async Suite.run (file:///srv/app/node_modules/mocha/lib/runner.js:1:2)",
    "without at": "Test.run (node:internal/test_runner/test:1054:25)",
    "a bare place": "    at node:internal/main/run_main_module:33:47",
    "with a brace": "    at Module.load [as x] (node:internal/x:1:2) {",
    "anonymous": "    at new Promise (<anonymous>)",
    "behind a comment sign": "#     at Module._load (node:internal/modules/cjs/loader:1299:12)",
    "rspec": "     # /var/lib/gems/3.1.0/gems/rspec-core-3.12.0/lib/rspec/core/hooks.rb:381:in `instance_exec'",
    "rspec's script": "# /usr/local/bin/rspec:4:in '<main>'",
    "minitest": "    /var/lib/gems/3.1.0/gems/minitest-5.17.0/lib/minitest/test.rb:98:in 'block in run'",
    "unittest": '  File "/usr/lib/python3.12/unittest/case.py", line 57, in testPartExecutor\n    yield',
    "pytest with marks": (
        '  File "/srv/kiln/.venv/lib/python3.12/site-packages/_pytest/runner.py", line 341, in from_call\n'
        "    result = func()\n             ^^^^^^"
    ),
    "an internal error": (
        'INTERNALERROR>   File "/srv/.venv/lib/python3.12/site-packages/pluggy/_callers.py", line 103, in _multicall\n'
        "INTERNALERROR>     res = hook_impl.function(*args)"
    ),
    "faulthandler": '  File "/usr/lib/python3.12/unittest/suite.py", line 84 in __call__',
    "perl": "\tTAP::Harness::runtests(TAP::Harness=HASH(0x5)) called at /usr/share/perl/5.36/App/Prove.pm line 5",
    "perl's eval": "\teval {...} called at /usr/share/perl/5.36/TAP/Harness.pm line 560",
    "prove": "\tApp::Prove::run(App::Prove=HASH(0x5)) called at /usr/bin/prove line 13",
    "frozen": '  File "<frozen runpy>", line 198, in _run_module_as_main',
    "testing": "testing.tRunner(0xc000098b60, 0x52f338)\n\t/usr/lib/go-1.19/src/testing/testing.go:1446 +0x10b",
    "its creation": ("created by testing.(*T).Run in goroutine 1\n\t/usr/local/go/src/testing/testing.go:1742 +0x390"),
    "panic": "panic({0x508da0, 0x5fda90})\n\t/usr/lib/go-1.19/src/runtime/panic.go:884 +0x212",
    "Rust": (
        "   8: core::ops::function::FnOnce::call_once\n"
        "             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ops/function.rs:250:5"
    ),
}
NO_FRAMES = (
    '\tKiln::fire("hot") called at /usr/share/perl/5.36/TAP/Harness.pm line 560',
    "\tTest::More::ok(0) called at t/kiln.t line 5",
    "\teval {...} called at /srv/kiln/lib/Kiln.pm line 5",
    "TAP::Harness::runtests() called at /usr/share/perl/5.36/App/Prove.pm line 5",
    "    at mine (/srv/app/node_modules_of_mine/tape/x.js:1:2)",
    "    at mine (/srv/app/test/x.test.js:1:2)",
    "    at dep (/srv/app/node_modules/tape/node_modules/mine/x.js:1:2)",
    "  error: cannot load module (node:fs)",
    "  error: 'the call came from run (node:internal/test_runner/test:1054:25)'",
    "we never reached the handler (node:internal/x:1:2)",
    "Error: ENOENT: /srv/app/node_modules/tape/package.json",
    "cannot find module /srv/app/node_modules/jest-x/index.js:1:2",
    "oops (<anonymous>)",
    "node:fs",
    '  File "/srv/kiln/tests/unittest/case.py", line 7, in test_glaze',
    '  File "/usr/lib/python3.12/json/decoder.py", line 355, in raw_decode',
    '  File "/srv/.venv/lib/python3.12/site-packages/glaze/unittest/case.py", line 1, in x',
    'said: File "/usr/lib/python3.12/unittest/case.py", line 57, in run',
    "     # ./spec/kiln_spec.rb:12:in 'block'",
    "     # /var/lib/gems/3.1.0/gems/glaze-1.0/lib/rspec/core.rb:1:in 'x'",
    "panic: runtime error: index out of range [3] with length 3",
    "testing.tRunner(0xc000098b60, 0x52f338)",
    "testing.tRunner(0xc0)\n\t/srv/kiln/src/glaze/glaze_test.go:12 +0x10b",
    "example.org/kiln.Fire(...)\n\t/usr/lib/go-1.19/src/testing/testing.go:1446 +0x10b",
    "   7: kiln::fire\n             at ./src/lib.rs:12:5",
)


@pytest.mark.parametrize("text", FRAMES.values(), ids=FRAMES)
def test_a_frame_of_runner_or_platform(text: str) -> None:
    lines = text.split("\n")
    assert frame([*lines, "ValueError: glaze"], 0) == len(lines)
    assert frame(lines, 0) == len(lines)


@pytest.mark.parametrize("text", NO_FRAMES)
def test_no_frame_of_theirs(text: str) -> None:
    assert not frame(text.split("\n"), 0)


def test_what_follows_a_python_frame_ends_with_its_margin() -> None:
    frames = '  File "/usr/lib/python3.12/unittest/case.py", line 57, in run\n    yield\n\n    not its own'
    assert frame(frames.split("\n"), 0) == 2
