"""Forms name what is missing, and show service errors at their inputs."""

from collections.abc import Iterator

from django import forms
from django.contrib.auth.models import Group
from django.urls import get_resolver

from annotation.core.errors import AnnotationError
from annotation.core.forms import Form, NamingForm, RefusableForm


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


class EveryKindForm(Form):
    makes = "data set"
    name = forms.CharField()
    licence = forms.CharField(label="Licence of the texts")
    seed_number = forms.IntegerField()
    file = forms.FileField()
    shape = forms.ChoiceField(choices=[("a", "A")])
    systems = forms.MultipleChoiceField(choices=[("a", "A")])
    group = forms.ModelChoiceField(Group.objects.none())
    groups = forms.ModelMultipleChoiceField(Group.objects.none())
    agreed = forms.BooleanField(label="I have the right to use them")
    code = forms.CharField(error_messages={"required": "Enter the code from the letter."})
    comment = forms.CharField(required=False)


def test_what_is_missing_is_named() -> None:
    assert {name: messages for name, (messages,) in EveryKindForm({}).errors.items()} == {
        "name": "Give the data set a name.",
        "licence": "Fill in “Licence of the texts”.",
        "seed_number": "Fill in “Seed number”.",
        "file": "Choose a file.",
        "shape": "Choose one under “Shape”.",
        "systems": "Choose at least one under “Systems”.",
        "group": "Choose one under “Group”.",
        "groups": "Choose at least one under “Groups”.",
        "agreed": "Tick “I have the right to use them”.",
        "code": "Enter the code from the letter.",
    }


def forms_of_the_product(base: type[forms.BaseForm] = forms.BaseForm) -> Iterator[type[forms.BaseForm]]:
    """Yield every class of forms that a page of the product shows."""
    assert get_resolver().url_patterns  # imports the views, and so their forms
    for form in base.__subclasses__():
        if form.__module__.startswith(("annotation.", "metrics.", "correlations.", "config.")):
            yield form
        yield from forms_of_the_product(form)


def test_every_form_names_what_is_missing() -> None:
    every = set(forms_of_the_product())
    assert len(every) > 50
    assert [form for form in every if not issubclass(form, NamingForm)] == []
