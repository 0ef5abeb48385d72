"""The memory that a task may take: a limit of this process while it works on one.

Linux counts what a process can write to (RLIMIT_DATA), so that reserved addresses and mapped indexes are free. Other
systems count something else: there is no limit there.
"""

import errno
import resource
import sys
from pathlib import Path

from django.conf import settings

MEBIBYTE = 2**20


def limit_begin() -> None:
    """Let this process take ASSAY_TASK_MEMORY_MB beside what it has now."""
    if settings.TASK_MEMORY_MB and sys.platform == "linux":
        _soft_limit(_taken() + settings.TASK_MEMORY_MB * MEBIBYTE)


def limit_end() -> None:
    if settings.TASK_MEMORY_MB and sys.platform == "linux":
        _soft_limit(resource.RLIM_INFINITY)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory was refused. PyTorch and new threads raise errors of their own."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    words = ("can't allocate memory", "can't start new thread")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(each in str(error) for each in words)
    )


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


def _taken() -> int:
    """Return how many bytes this process can write to."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmData:")[2].split()[0]) * 1024
