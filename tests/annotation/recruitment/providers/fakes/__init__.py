"""Copies of the providers that speak their documented HTTP on loopback, for tests of every kind."""

from tests.annotation.recruitment.providers.fakes.mturk import FakeMechanicalTurk
from tests.annotation.recruitment.providers.fakes.prolific import FakeProlific

__all__ = ["FakeMechanicalTurk", "FakeProlific"]
