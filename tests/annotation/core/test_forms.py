"""Service errors are shown at the inputs of a form."""

from django import forms

from annotation.core.errors import AnnotationError
from annotation.core.forms import RefusableForm


class NamesForm(RefusableForm):
    inputs = {"source_kinds": "sources", "template": ""}
    name = forms.CharField()
    sources = forms.CharField()


def errors_of(error: AnnotationError) -> dict[str, list[str]]:
    form = NamesForm({"name": "a", "sources": "b"})
    assert form.is_valid()
    form.add_refusal(error)
    return dict(form.errors)


def test_messages_are_shown_at_their_inputs() -> None:
    error = AnnotationError("Two problems.", fields={"name": ["Taken.", "Too long."], "source_kinds": ["None."]})
    assert errors_of(error) == {"name": ["Taken.", "Too long."], "sources": ["None."]}


def test_a_message_without_a_field_is_shown_above_the_form() -> None:
    assert errors_of(AnnotationError("The campaign is closed.")) == {"__all__": ["The campaign is closed."]}


def test_a_message_for_a_field_without_an_input_names_the_field() -> None:
    assert errors_of(AnnotationError.at("quality.every", "Found 0.")) == {"__all__": ["quality.every: Found 0."]}


def test_a_form_can_omit_the_field_name() -> None:
    assert errors_of(AnnotationError.at("template", "No such template.")) == {"__all__": ["No such template."]}
