"""Freed memory stays with the process during a training, and goes back after it."""

import sys
from pathlib import Path

import numpy as np
import pytest

from metrics.scoring.qe.memory import freed_memory_kept

MIB, BLOCKS = 2**20, 128


def resident() -> int:
    """Return how much memory the system counts for this process, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS"))


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator alone is tuned")
def test_what_a_batch_frees_is_kept_for_the_next_and_given_back_at_the_end() -> None:
    before = resident()
    with freed_memory_kept():
        arrays = [np.ones(MIB, dtype=np.uint8) for _ in range(BLOCKS)]
        taken = resident()
        del arrays
        kept = resident()
    after = resident()

    assert taken - before > 0.8 * BLOCKS
    assert kept > taken - 0.1 * BLOCKS
    assert after < taken - 0.8 * BLOCKS
