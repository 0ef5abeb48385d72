"""A request that waits is given up, one that a busy machine keeps from running only later."""

import os
from unittest.mock import Mock

import pytest

from scripts.fuzz.requests import BUSY_TURNS, Late, Sender


def test_a_request_that_hangs_is_given_up_later_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    sender = Mock(turns=0)
    monkeypatch.setattr(os, "getloadavg", lambda: (25.0, 1.0, 1.0))
    for _ in range(BUSY_TURNS - 1):
        Sender.hangs(sender)
    with pytest.raises(Late):
        Sender.hangs(sender)
    sender.turns = 0
    monkeypatch.setattr(os, "getloadavg", lambda: (2.0, 1.0, 1.0))
    with pytest.raises(Late):
        Sender.hangs(sender)
