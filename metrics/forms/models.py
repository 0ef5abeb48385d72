"""Forms that train a model or upload one."""

from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.text import capfirst

from annotation.core.forms import RefusableForm, offer_choices
from annotation.core.kept_files import KeptFileForm
from annotation.core.uploads import upload_limit
from annotation.models import Corpus, Dataset, Project, SourceKind, User
from annotation.references.releases.selectors.releases import source_counts
from metrics.forms.runs import parameter_field
from metrics.scoring.models.kinds import Kind
from metrics.selectors.training_texts import CONTEXTS, MESSAGES, RESPONSES
from metrics.services.model_rows import ModelRequest

PART_LABELS = {MESSAGES: "Messages", CONTEXTS: "Contexts: the turns before the message", RESPONSES: "Responses"}
OPTION = "option_"


class ModelForm(RefusableForm):
    """A model's name; ``source_values`` are the texts or the file that it is made from."""

    makes = "model"
    name = forms.CharField(label="Name", max_length=120, help_text="An existing name gets another version.")
    inputs = {"source_kinds": "texts", "source_systems": "texts"}

    def __init__(self, *args: Any, kind: Kind, project: Project, by: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind, self.project, self.by = kind, project, by

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        option = f"{OPTION}{path}"
        return super().input_of(option if option in self.fields else path)

    @property
    def main_fields(self) -> list[forms.BoundField]:
        return [field for field in self if not field.name.startswith(OPTION)]

    @property
    def option_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith(OPTION)]

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the service that creates the model, except the data set or corpus."""
        data = self.cleaned_data
        options = {name.removeprefix(OPTION): data[name] for name in data if name.startswith(OPTION)}
        keep_apart = data.get("keep_apart", True)
        request = ModelRequest(self.project, self.by, data["name"], self.kind.name, options, keep_apart)
        return {"request": request, **self.source_values()}

    def source_values(self) -> dict[str, Any]:
        file = self.cleaned_data["file"]
        return {"filename": file.name, "content": file.read()}


class OptionsForm(ModelForm):
    """The kind decides which options there are."""

    def __init__(self, *args: Any, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        for parameter in kind.parameters:
            self.fields[f"{OPTION}{parameter.name}"] = parameter_field(parameter)


class _TrainingForm(OptionsForm):
    keep_apart = forms.BooleanField(
        label="Leave out texts that are outputs or references here",
        required=False,
        initial=True,
        help_text="A model that has seen the very texts it helps to judge flatters them. Case and spaces do not count.",
    )


class DatasetTrainingForm(_TrainingForm):
    texts = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label="Texts")
    field_order = ("name", "texts", "keep_apart")

    def __init__(self, *args: Any, kind: Kind, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        parts = [(part, PART_LABELS[part]) for part in (MESSAGES, CONTEXTS)]
        responses = [
            (f"system:{system}" if system else f"kind:{origin}", _source_label(origin, system, count))
            for origin, system, count in source_counts(dataset)
        ]
        offer_choices(self, "texts", parts + responses)
        # Outputs are what is to be judged: never by default.
        self.fields["texts"].initial = [value for value, _ in parts + responses if not value.startswith("system:")]

    def source_values(self) -> dict[str, Any]:
        chosen = self.cleaned_data["texts"]
        return {
            "texts": [value for value in chosen if value in PART_LABELS],
            "source_kinds": [value.removeprefix("kind:") for value in chosen if value.startswith("kind:")],
            "source_systems": [value.removeprefix("system:") for value in chosen if value.startswith("system:")],
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

    def source_values(self) -> dict[str, Any]:
        return {"texts": self.cleaned_data["texts"]}


def _file_field() -> forms.FileField:
    return forms.FileField(label="File", validators=[upload_limit(", or any size by the command train_metric_model")])


def _file_help(accepted: str) -> str:
    limit = filesizeformat(settings.UPLOAD_MAX_BYTES)
    return f"{accepted}; up to {limit}. For a larger one use the command <code>train_metric_model</code>."


class UploadTrainingForm(_TrainingForm, KeptFileForm):
    file = _file_field()
    field_order = ("name", "file", "keep_apart")

    def __init__(self, *args: Any, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        accepted = "One text per line, in UTF-8, perhaps compressed with gzip or Zstandard"
        self.fields["file"].help_text = _file_help(accepted)


class ModelUploadForm(ModelForm, KeptFileForm):
    """A model that another program made."""

    file = _file_field()
    field_order = ("name", "file")

    def __init__(self, *args: Any, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, kind=kind, **kwargs)
        self.fields["file"].help_text = _file_help(capfirst(kind.made_elsewhere))
