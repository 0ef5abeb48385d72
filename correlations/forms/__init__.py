"""What a person fills in to start a study."""

from correlations.forms.parameters import MetricStepForm, ParameterStudyForm
from correlations.forms.studies import StudyForm

__all__ = ["MetricStepForm", "ParameterStudyForm", "StudyForm"]
