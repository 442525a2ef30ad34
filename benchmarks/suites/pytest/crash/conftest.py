"""As an extension module does that frees its memory twice when the interpreter ends."""

import os
import signal
import sys


def pytest_unconfigure(config):
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGSEGV)
