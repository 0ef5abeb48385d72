"""The kinds of scales that a criterion can have."""

from annotation.campaigns.scales.base import Scale, with_standard
from annotation.campaigns.scales.likert import Likert
from annotation.campaigns.scales.magnitude import Magnitude
from annotation.campaigns.scales.preference import Preference
from annotation.campaigns.scales.slider import Slider

KINDS: tuple[type[Scale], ...] = (
    Likert,
    Slider,
    Magnitude,
    Preference,
)
SCALES = {kind.key: kind for kind in KINDS}


def scale_choices() -> list[tuple[str, str]]:
    return [(kind.key, kind.label) for kind in KINDS]


__all__ = ["KINDS", "SCALES", "Likert", "Magnitude", "Preference", "Scale", "Slider", "scale_choices", "with_standard"]
