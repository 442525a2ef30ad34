"""Writes and reads an object of so many megabytes, and prints the largest resident size in kilobytes.

python large.py FOLDER MEGABYTES
"""

import re
import sys
from pathlib import Path

from stored import in_folder


def peak_kilobytes() -> int:
    """The largest resident size of this process so far; `getrusage` would count what it was before it became this."""
    found = re.search(r"VmHWM:\s+([0-9]+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


if __name__ == "__main__":
    store = in_folder(Path(sys.argv[1]))
    with store.writer() as writer:
        for number in range(int(sys.argv[2])):
            writer.write(b"".join(b"ok %d - weighs parcel %d of %d\n" % (n, n * 7, number) for n in range(32_000)))
        stored = writer.finish()
        sizes = sum(map(len, writer.chunks()))
    store.check(*stored)
    assert sizes == stored.byte_count > int(sys.argv[2]) * 900_000
    print(peak_kilobytes())
