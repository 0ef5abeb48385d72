"""Errors of the metrics app."""

from annotation.core.errors import AnnotationError


class MetricsError(AnnotationError):
    """A score or model cannot be computed; the message says what was found and what is accepted."""


class ScoreRunRefused(MetricsError):
    """A score run is specified wrongly; ``fields`` names the fields."""
