"""The memory that a task may take: a limit of this process while it works on one.

Linux counts what a process can write to (RLIMIT_DATA), so that reserved addresses and mapped indexes are free. Other
systems count something else: there is no limit there.
"""

import resource
import sys
from functools import cache
from pathlib import Path

from django.conf import settings

MEBIBYTE = 2**20


def limit_begin() -> None:
    """Let this process take ASSAY_TASK_MEMORY_MB beside what it has before its first task."""
    if settings.TASK_MEMORY_MB and sys.platform == "linux":
        _soft_limit(_before_first_task() + settings.TASK_MEMORY_MB * MEBIBYTE)


def limit_end() -> None:
    if settings.TASK_MEMORY_MB and sys.platform == "linux":
        _soft_limit(resource.RLIM_INFINITY)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory was refused. PyTorch raises an error of its own."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))


def out_of_memory_reason() -> str:
    if not settings.TASK_MEMORY_MB:
        return "It needed more memory than its worker’s machine has. Try it with less data at once."
    return (
        f"It needed more memory than the {settings.TASK_MEMORY_MB:,} MiB that a task may take. Try it with less data "
        "at once, or have the limit raised (ASSAY_TASK_MEMORY_MB)."
    )


def _soft_limit(limit: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if limit == resource.RLIM_INFINITY or limit > hard != resource.RLIM_INFINITY:
        limit = hard
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


@cache
def _before_first_task() -> int:
    """Return how many bytes this process could write to when it was first asked."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmData:")[2].split()[0]) * 1024
