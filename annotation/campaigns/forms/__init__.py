"""The steps in which a campaign is designed, and the small forms around them."""

from annotation.campaigns.forms.copies import CloneForm, ImportForm, StartForm
from annotation.campaigns.forms.criteria import CriterionForm
from annotation.campaigns.forms.quality import QualityStep
from annotation.campaigns.forms.screens import LinesForm, PreparedForm
from annotation.campaigns.forms.steps import RatersStep, ScreenStep, Step, WhatStep, WordsStep

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
