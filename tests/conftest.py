"""One process more than there are cores: many tests wait for the processes that they start."""

import os


def pytest_xdist_auto_num_workers() -> int:
    """How many processes `--numprocesses=auto` means."""
    return (os.cpu_count() or 1) + 1
