from collections.abc import Iterator
from importlib.util import find_spec

import pytest


@pytest.fixture(autouse=True)
def _in_one_thread() -> Iterator[None]:
    """Small products take longer in two threads than in one, much longer beside other tests."""
    if find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
