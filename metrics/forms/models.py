"""What a person fills in to have a model trained, or taken in."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.text import capfirst

from annotation.core.forms import RefusableForm, offer_choices
from annotation.models import Corpus, Dataset, SourceKind
from annotation.references.releases.selectors.releases import source_counts
from metrics.scoring.models.kinds import Kind
from metrics.scoring.parameters import Parameter
from metrics.selectors.training_texts import CONTEXTS, MESSAGES, RESPONSES

PART_LABELS = {MESSAGES: "Messages", CONTEXTS: "Contexts: the turns before the message", RESPONSES: "Responses"}
OPTION = "option_"


def option_field(parameter: Parameter) -> forms.Field:
    """The input of a parameter."""
    common: dict[str, Any] = {"label": parameter.label, "help_text": parameter.hint, "initial": parameter.default}
    if parameter.kind == "flag":
        return forms.BooleanField(required=False, **common)
    if parameter.kind == "choice":
        return forms.ChoiceField(choices=[(one, one) for one in parameter.choices], **common)
    number: Callable[..., forms.Field] = forms.IntegerField if parameter.kind == "whole" else forms.FloatField
    accepted = f"Accepted: {parameter.accepted}."
    told = dict.fromkeys(("min_value", "max_value", "invalid"), accepted)
    return number(min_value=parameter.low, max_value=parameter.high, error_messages=told, **common)


class _ModelForm(RefusableForm):
    """What every model is asked: what it is called."""

    name = forms.CharField(label="Name", max_length=120, help_text="A name that is there already gets another version.")

    def __init__(self, *args: Any, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind

    def place(self, path: str) -> tuple[forms.Form, str | None]:
        option = f"{OPTION}{path}"
        return super().place(option if option in self.fields else self.sources_field(path) or path)

    def sources_field(self, name: str) -> str:
        return "texts" if name in ("source_kinds", "source_systems") else ""


class _TrainingForm(_ModelForm):
    """The kind settles which options there are."""

    keep_apart = forms.BooleanField(
        label="Leave out texts that are outputs or references here",
        required=False,
        initial=True,
        help_text="A model that has seen the very texts it helps to judge flatters them. Case and spaces do not count.",
    )

    def __init__(self, *args: Any, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        for parameter in kind.parameters:
            self.fields[f"{OPTION}{parameter.name}"] = option_field(parameter)

    @property
    def main(self) -> list[forms.BoundField]:
        return [field for field in self if not field.name.startswith(OPTION)]

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith(OPTION)]

    def asked(self) -> dict[str, Any]:
        data = self.cleaned_data
        options = {name.removeprefix(OPTION): data[name] for name in data if name.startswith(OPTION)}
        return {"name": data["name"], "options": options, "keep_apart": data["keep_apart"]}


class DatasetTrainingForm(_TrainingForm):
    texts = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label="Texts")
    field_order = ("name", "texts", "keep_apart")

    def __init__(self, *args: Any, kind: Kind, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        sources = [(origin, name, count) for origin, name, count in source_counts(dataset)]
        responses = [
            (f"system:{system}" if system else f"kind:{origin}", _source_label(origin, system, count))
            for origin, system, count in sources
        ]
        offer_choices(self, "texts", [(part, PART_LABELS[part]) for part in (MESSAGES, CONTEXTS)] + responses)
        # Outputs are what is to be judged: never by default.
        self.fields["texts"].initial = [
            MESSAGES,
            CONTEXTS,
            *(value for value, _ in responses if value.startswith("kind:")),
        ]

    def asked(self) -> dict[str, Any]:
        chosen = self.cleaned_data["texts"]
        return super().asked() | {
            "texts": [one for one in chosen if one in PART_LABELS],
            "source_kinds": [one.removeprefix("kind:") for one in chosen if one.startswith("kind:")],
            "source_systems": [one.removeprefix("system:") for one in chosen if one.startswith("system:")],
        }


def _source_label(origin: str, system: str, count: int) -> str:
    return f"Outputs of {system} ({count:,})" if system else f"Responses: {SourceKind(origin).label} ({count:,})"


class CorpusTrainingForm(_TrainingForm):
    texts = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, label="Texts", choices=list(PART_LABELS.items()), initial=[RESPONSES]
    )
    field_order = ("name", "texts", "keep_apart")

    def __init__(self, *args: Any, kind: Kind, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        self.fields["texts"].help_text = f"Of {corpus.n_triples:,} triples."

    def asked(self) -> dict[str, Any]:
        return super().asked() | {"texts": self.cleaned_data["texts"]}


class _FileField(forms.FileField):
    """An upload within the limit; what is larger goes in by the command."""

    def __init__(self, *, accepted: str, **options: Any) -> None:
        limit = filesizeformat(settings.UPLOAD_MAX_BYTES)
        help_text = f"{accepted}; up to {limit}. A larger one goes in by the command <code>train_metric_model</code>."
        super().__init__(label="File", help_text=help_text, **options)

    def clean(self, data: Any, initial: Any = None) -> Any:
        file = super().clean(data, initial)
        if file.size is not None and file.size > settings.UPLOAD_MAX_BYTES:
            found, accepted = filesizeformat(file.size), filesizeformat(settings.UPLOAD_MAX_BYTES)
            raise forms.ValidationError(
                f"Found {found}; accepted: at most {accepted}, or any size by the command train_metric_model."
            )
        return file


class UploadTrainingForm(_TrainingForm):
    field_order = ("name", "file", "keep_apart")

    def __init__(self, *args: Any, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        self.fields["file"] = _FileField(
            accepted="One text a line, in UTF-8, perhaps compressed with gzip or Zstandard"
        )
        self.order_fields(self.field_order)

    def asked(self) -> dict[str, Any]:
        file = self.cleaned_data["file"]
        return super().asked() | {"filename": file.name, "content": file.read()}


class ModelUploadForm(_ModelForm):
    """A model that another program made."""

    def __init__(self, *args: Any, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        self.fields["file"] = _FileField(accepted=capfirst(kind.made_elsewhere))

    @property
    def main(self) -> list[forms.BoundField]:
        return list(self)

    def asked(self) -> dict[str, Any]:
        file = self.cleaned_data["file"]
        return {"name": self.cleaned_data["name"], "filename": file.name, "content": file.read()}
