"""The part of a step that says what raters write."""

from typing import Any

from django import forms

from annotation.campaigns.design.writing import ASKS, LONGEST_QUESTION, LONGEST_TEXT, POLICIES, Writing
from annotation.core.forms import Form


class WritingForm(Form):
    asks = forms.ChoiceField(
        label="What raters write", choices=list(ASKS.items()), required=False, widget=forms.RadioSelect
    )
    question = forms.CharField(
        label="What they are asked", required=False, max_length=LONGEST_QUESTION, help_text="Above the field."
    )
    least = forms.IntegerField(label="Characters, at least", required=False, min_value=1, max_value=LONGEST_TEXT)
    most = forms.IntegerField(label="Characters, at most", required=False, min_value=1, max_value=LONGEST_TEXT)
    language = forms.CharField(
        label="Language",
        required=False,
        max_length=35,
        help_text="A tag such as en or pt-BR: raters are warned of another language. Empty for any.",
    )
    copies = forms.ChoiceField(
        label="A copy of the response or the conversation", choices=list(POLICIES.items()), required=False
    )
    pastes = forms.ChoiceField(
        label="A text of which half or more was pasted", choices=list(POLICIES.items()), required=False
    )

    @staticmethod
    def initial_of(stored: dict[str, Any]) -> dict[str, Any]:
        writing = Writing.lenient(stored)
        names = ("asks", "question", "least", "most", "language", "copies", "pastes")
        return {name: getattr(writing, name) for name in names}

    def design(self) -> dict[str, Any]:
        """Return the design, with its defaults for what was left empty."""
        given = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        return given if given.get("asks") else {}
