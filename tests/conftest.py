"""What holds for every test, whoever starts the suite."""

import os
import signal

from hypothesis import settings

# What a shell starts in the background ignores SIGINT, and so would every command that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no reason to fail.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: many tests wait for the processes that they start."""
    return (os.cpu_count() or 1) + 1
