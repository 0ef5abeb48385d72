"""The kinds of scales that a criterion can have."""

from annotation.campaigns.scales.base import Scale, WholeScale, fewest_responses, with_standard
from annotation.campaigns.scales.best_worst import BestWorst
from annotation.campaigns.scales.likert import Likert
from annotation.campaigns.scales.magnitude import Magnitude
from annotation.campaigns.scales.preference import Preference
from annotation.campaigns.scales.slider import Slider

KINDS: tuple[type[Scale], ...] = (
    Likert,
    Slider,
    Magnitude,
    Preference,
    BestWorst,
)
SCALES = {kind.key: kind for kind in KINDS}


def scale_choices() -> list[tuple[str, str]]:
    return [(kind.key, kind.label) for kind in KINDS]


__all__ = [
    "KINDS",
    "SCALES",
    "Likert",
    "Magnitude",
    "Scale",
    "Slider",
    "WholeScale",
    "fewest_responses",
    "scale_choices",
    "with_standard",
]
