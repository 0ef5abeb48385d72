"""Raters who do not exist, and what their work foretells: cost, time, certainty, and who would be caught.

Pure functions on arrays: usable from a notebook without the rest of Assay. Scales say how raters answer on them, and
lie below this room: they import from here what they need for that, and nothing else of the room.
"""

from annotation.dry_runs.simulation.answers import Ladder, answer, magnitude_ends, obey
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.dry_runs.simulation.screens import ShownText, rate

__all__ = ["Ladder", "ShownText", "SimulatedRater", "answer", "magnitude_ends", "obey", "rate"]
