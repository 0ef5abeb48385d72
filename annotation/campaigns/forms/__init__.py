"""The steps in which a campaign is designed, and the small forms around them."""

from annotation.forms.campaigns.copies import CloneForm, ImportForm, StartForm
from annotation.forms.campaigns.criteria import CriterionForm
from annotation.forms.campaigns.quality import QualityStep
from annotation.forms.campaigns.screens import LinesForm, PreparedForm
from annotation.forms.campaigns.steps import RatersStep, ScreenStep, Step, WhatStep, WordsStep

STEPS: dict[str, type[Step]] = {form.step: form for form in (WhatStep, ScreenStep, WordsStep, RatersStep, QualityStep)}

__all__ = [
    "STEPS",
    "CloneForm",
    "CriterionForm",
    "ImportForm",
    "LinesForm",
    "PreparedForm",
    "QualityStep",
    "RatersStep",
    "ScreenStep",
    "StartForm",
    "Step",
    "WhatStep",
    "WordsStep",
]
