"""What this app's services refuse, for people to read."""

from annotation.core.errors import AnnotationError


class MetricsError(AnnotationError):
    """A score cannot be computed as asked; the message says what was found and what is accepted."""


class ScoreRunRefused(MetricsError):
    """A score run is specified wrongly; ``fields`` names the parts."""
