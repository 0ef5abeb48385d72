"""The step about questions to raters: a small form for each question."""

from typing import Any

from django import forms

from annotation.campaigns.design.questionnaire import (
    LONGEST_NAME,
    LONGEST_QUESTION,
    MOST_QUESTIONS,
    WHEN,
    Questionnaire,
)
from annotation.campaigns.fields.table import QUESTIONS
from annotation.campaigns.forms.fields import LinesField, textarea
from annotation.campaigns.forms.parts import KindSelect, PartForm
from annotation.campaigns.forms.steps import Step
from annotation.campaigns.questions import ANSWER_KINDS, KINDS, READY_MADE, Question
from annotation.campaigns.questions.base import LONGEST_ANSWER
from annotation.campaigns.questions.choice import Choice
from annotation.models import Campaign


class QuestionForm(PartForm):
    makes = "question"
    question = forms.CharField(label="Question", max_length=LONGEST_QUESTION)
    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        help_text="For files and the filter of results, such as <code>expertise</code>.",
    )
    kind = forms.ChoiceField(
        label="Answer",
        choices=[(kind.key, kind.choice) for kind in KINDS],
        initial=Choice.key,
        widget=KindSelect({kind.key: kind.uses for kind in KINDS}),
    )
    options = LinesField(
        label="Answers to choose from", required=False, widget=textarea(5), help_text="A line for each."
    )
    longest = forms.IntegerField(
        label="Characters, at most", required=False, min_value=1, max_value=LONGEST_ANSWER, initial=LONGEST_ANSWER
    )
    low = forms.FloatField(label="Lowest number", required=False)
    high = forms.FloatField(label="Highest number", required=False)
    optional = forms.BooleanField(label="Raters may leave it out", required=False)
    remove = forms.BooleanField(label="Remove this question", required=False)

    @property
    def is_open(self) -> bool:
        """Whether the form is open at first: it has a mistake, or a question that is not stored yet."""
        return bool(self.errors) or (self.is_shown and not self.initial)

    def data_of_question(self) -> dict[str, Any]:
        """Return the question as the design holds it."""
        values = self.cleaned_data
        used = {name: values[name] for name in ANSWER_KINDS[values["kind"]].uses}
        if used.get("longest", 0) is None:
            used["longest"] = LONGEST_ANSWER
        words = {name: values[name].strip() for name in ("name", "question")}
        return {**words, "kind": values["kind"], "required": not values["optional"], **used}

    @staticmethod
    def initial_of(question: Question) -> dict[str, Any]:
        used = {name: getattr(question, name) for name in ANSWER_KINDS[question.kind].uses}
        words = {name: getattr(question, name) for name in ("name", "question", "kind")}
        return {**words, **used, "optional": not question.required}


class QuestionsStep(Step):
    step = QUESTIONS
    title = "Questions to raters"
    lead = "What you want to know about raters themselves. A campaign needs no such questions."
    first = "when"
    template = "annotation/campaigns/campaign_form_questions.html"

    when = forms.ChoiceField(
        label="When raters answer, once",
        choices=list(WHEN.items()),
        widget=forms.RadioSelect,
        help_text="The first page tells raters what they will be asked, before they agree to take part.",
    )

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(campaign, data)
        stored = Questionnaire.lenient(campaign.questions).questions
        self.questions = [
            QuestionForm(
                data,
                prefix=f"question-{number + 1}",
                initial=QuestionForm.initial_of(stored[number]) if number < len(stored) else None,
                use_required_attribute=False,
            )
            for number in range(MOST_QUESTIONS)
        ]
        names = {question.name for question in stored}
        self.ready_made = [ready for name, ready in READY_MADE.items() if name not in names]

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        return {"when": Questionnaire.lenient(campaign.questions).when}

    def is_valid(self) -> bool:
        return all([super().is_valid(), *(form.is_valid() for form in self.filled)])  # each of them is checked

    @property
    def filled(self) -> list[QuestionForm]:
        return [form for form in self.questions if not form.is_left_out]

    def changes(self) -> dict[str, Any]:
        questions = [form.data_of_question() for form in self.filled]
        return {"questions": {"when": self.cleaned_data["when"], "questions": questions} if questions else {}}

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        """Return the input of a path such as ``questions.questions.2.options``."""
        _, *rest = path.split(".")
        if len(rest) < 2 or rest[0] != "questions" or not rest[1].isdecimal() or int(rest[1]) > len(self.filled):
            name = rest[0] if rest and rest[0] in self.fields else None
            return self, name
        form = self.filled[int(rest[1]) - 1]
        field = rest[2] if len(rest) > 2 else None
        return form, field if field in form.fields else None

    @property
    def has_errors(self) -> bool:
        return bool(self.errors) or any(form.errors for form in self.filled)
