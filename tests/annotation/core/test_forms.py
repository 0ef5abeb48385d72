"""What a service refuses, at the inputs of a form."""

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


def test_messages_stand_at_the_inputs_they_are_about() -> None:
    error = AnnotationError("Two problems.", fields={"name": ["Taken.", "Too long."], "source_kinds": ["None."]})
    assert errors_of(error) == {"name": ["Taken.", "Too long."], "sources": ["None."]}


def test_a_message_about_no_field_stands_above_the_form() -> None:
    assert errors_of(AnnotationError("The campaign is closed.")) == {"__all__": ["The campaign is closed."]}


def test_a_message_about_a_field_without_an_input_names_it() -> None:
    assert errors_of(AnnotationError.at("quality.every", "Found 0.")) == {"__all__": ["quality.every: Found 0."]}


def test_a_form_can_leave_the_name_out() -> None:
    assert errors_of(AnnotationError.at("template", "No such template.")) == {"__all__": ["No such template."]}
