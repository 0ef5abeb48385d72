"""Raters who do not exist, and what their work foretells: cost, time, certainty, and who would be caught.

Pure functions on arrays: usable from a notebook without the rest of Assay.
"""

from annotation.dry_runs.simulation.answers import QUALITY_KINDS, Ladder, answer, latent_quality, magnitude_ends, obey
from annotation.dry_runs.simulation.arrivals import DurationForecast, Workload, duration_forecast
from annotation.dry_runs.simulation.forecast import (
    CostForecast,
    DetectionForecast,
    Forecast,
    SimulatedLog,
    WidthForecast,
    cost_forecast,
    detection_forecast,
    forecast,
    width_forecast,
)
from annotation.dry_runs.simulation.raters import SimulatedRater, population
from annotation.dry_runs.simulation.screens import ShownText, rate

__all__ = [
    "QUALITY_KINDS",
    "CostForecast",
    "DetectionForecast",
    "DurationForecast",
    "Forecast",
    "Ladder",
    "ShownText",
    "SimulatedLog",
    "SimulatedRater",
    "WidthForecast",
    "Workload",
    "answer",
    "cost_forecast",
    "detection_forecast",
    "duration_forecast",
    "forecast",
    "latent_quality",
    "magnitude_ends",
    "obey",
    "population",
    "rate",
    "width_forecast",
]
