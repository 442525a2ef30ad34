"""What holds for every test, whoever starts the suite."""

import gc
import os
import signal

from hypothesis import settings

# A shell's background ignores SIGINT, nohup SIGHUP; started processes inherit that, and tests send them both. What a
# handler ignores is not inherited.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# A busy machine is no reason to fail.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Nothing that is collected goes away before the end: it is not looked through again and again.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on there is garbage, all of it of tests."""
    gc.freeze()
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: many tests wait for the processes that they start."""
    return (os.cpu_count() or 1) + 1
