"""Forms that name what is missing, and forms whose input a service may refuse."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from django import forms
from django.db.models import QuerySet
from django.forms.fields import InvalidJSONInput
from django.forms.utils import pretty_name

from annotation.core.errors import AnnotationError, Overtaken
from annotation.core.json_bodies import json_read

Result = TypeVar("Result")
AGAIN = "Save again to replace what is marked below, or reload the page to keep it and lose what you typed."


class NamingForm(forms.BaseForm):
    """Base of all forms: a required field that is empty is named, unless it has a message of its own."""

    makes: ClassVar[str] = ""
    """What the form's field ``name`` gives a name to, such as "data set"."""

    def full_clean(self) -> None:
        for name, field in self.fields.items():
            if field.error_messages.get("required") == forms.Field.default_error_messages["required"]:
                field.error_messages["required"] = self.missing(name, field)
        super().full_clean()

    def missing(self, name: str, field: forms.Field) -> str:
        """Return what to do about a required field that is empty."""
        label = field.label or pretty_name(name)
        if name == "name" and self.makes:
            return f"Give the {self.makes} a name."
        match field:
            case forms.FileField():
                return "Choose a file."
            case forms.BooleanField():
                return f"Tick “{label}”."
            case forms.MultipleChoiceField() | forms.ModelMultipleChoiceField():
                return f"Choose at least one under “{label}”."
            case forms.ChoiceField():
                return f"Choose one under “{label}”."
        return f"Fill in “{label}”."


class Form(NamingForm, forms.Form):
    """Base of forms that no service can refuse, such as filters."""


class RefusableForm(Form):
    """Base of forms whose cleaned data goes to a service."""

    field_groups: Mapping[str, tuple[str, ...]] = {}
    """Names of fields, by the part of the page that shows them."""

    inputs: ClassVar[Mapping[str, str]] = {}
    """The input of a service's field that is called otherwise here; "" shows its messages above the form."""

    @property
    def fields_by_group(self) -> dict[str, list[forms.BoundField]]:
        return {
            group: [self[name] for name in names if name in self.fields] for group, names in self.field_groups.items()
        }

    @property
    def errors_by_group(self) -> dict[str, bool]:
        """Return for each group whether one of its fields has an error."""
        return {group: any(name in self.errors for name in names) for group, names in self.field_groups.items()}

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        """Return the form and the input that a service's field came from: None if no input shows it."""
        name = self.inputs.get(path, path)
        return self, name if not name or name in self.fields else None

    def arguments(self) -> dict[str, Any]:
        """Return the service's arguments, from valid input."""
        return self.cleaned_data

    def submit(self, service: Callable[..., Result], **arguments: Any) -> Result | None:
        """Call a service with the form's arguments and these. Return None if the form or the service refuses."""
        if self.is_valid():
            try:
                return service(**self.arguments(), **arguments)
            except AnnotationError as error:
                self.add_refusal(error)
        return None

    def add_refusal(self, error: AnnotationError) -> None:
        """Show a service's refusal at the inputs that it is about, and the rest above the form, by its path."""
        for path, messages in (error.fields or {"": [error.message]}).items():
            form, name = self.input_of(path)
            for message in messages:
                form.add_error(name or None, message if name is not None or not path else f"{path}: {message}")


class EditForm(RefusableForm):
    """Base of forms that change what others can change meanwhile; the page sends back the version that it showed."""

    version = forms.CharField(required=False, widget=forms.HiddenInput)

    def arguments(self) -> dict[str, Any]:
        values = dict(super().arguments())
        return {"seen": values.pop("version"), **values} if "version" in values else values

    def add_refusal(self, error: AnnotationError) -> None:
        super().add_refusal(error)
        if isinstance(error, Overtaken):
            self.add_error(None, f"{error.message} {AGAIN}")
            data = self.data.copy()  # type: ignore[attr-defined] # a bound form has a QueryDict
            data["version"] = error.version
            self.data = data


class StrictJSONField(forms.JSONField):
    """JSON of which every value can be stored; read as strictly as the API's."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            try:
                return json_read(value)
            except json.JSONDecodeError as error:
                raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from error
            except ValueError as error:
                raise forms.ValidationError(str(error), code="invalid") from error
        return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        if data is None or self.disabled:
            return super().bound_data(data, initial)
        try:
            return json_read(data)
        except ValueError:  # shown again as it was typed
            return InvalidJSONInput(data)


def offer_choices(form: forms.Form, name: str, choices: Iterable[Any]) -> None:
    """Let a choice field of this form offer these."""
    form.fields[name].choices = choices  # type: ignore[attr-defined] # it is a ChoiceField


def offer_rows(form: forms.Form, name: str, rows: QuerySet[Any]) -> None:
    """Let a model choice field of this form offer these rows."""
    form.fields[name].queryset = rows  # type: ignore[attr-defined] # it is a ModelChoiceField
