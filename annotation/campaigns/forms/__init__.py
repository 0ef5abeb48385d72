"""The steps in which a campaign is designed, and the small forms around them."""

from annotation.campaigns.forms.quality import QualityStep
from annotation.campaigns.forms.questions import QuestionsStep
from annotation.campaigns.forms.steps import RatersStep, ScreenStep, Step, WhatStep, WordsStep

STEPS: dict[str, type[Step]] = {
    form.step: form for form in (WhatStep, ScreenStep, WordsStep, RatersStep, QuestionsStep, QualityStep)
}
