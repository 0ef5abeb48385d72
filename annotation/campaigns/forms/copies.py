"""A campaign from a template, from another one, from a file."""

from typing import Any

from django import forms

from annotation.campaigns.fields.table import CAMPAIGN
from annotation.core.forms import RefusableForm, offer_rows
from annotation.models import Campaign, Dataset, Project

MOST_BYTES = 8 * 1024 * 1024


class _IntoDataset(RefusableForm):
    dataset = forms.ModelChoiceField(Dataset.objects.none(), label="Data set", empty_label=None)

    def __init__(self, project: Project, data: Any = None, files: Any = None, **kwargs: Any) -> None:
        super().__init__(data, files, **kwargs)
        offer_rows(self, "dataset", Dataset.objects.filter(project=project))


class StartForm(_IntoDataset):
    inputs = {"template": ""}
    name = forms.CharField(
        required=False,
        max_length=CAMPAIGN["name"].longest,
        help_text="Raters see it, too. Left empty, it is named after the design.",
    )


class CloneForm(_IntoDataset):
    name = forms.CharField(max_length=CAMPAIGN["name"].longest, help_text=CAMPAIGN["name"].help)

    def __init__(self, campaign: Campaign, data: Any = None, *, name: str = "") -> None:
        super().__init__(campaign.project, data, initial={"name": name, "dataset": campaign.dataset})


class ImportForm(_IntoDataset):
    file = forms.FileField(
        label="File",
        help_text="JSON, as exported from a campaign here or elsewhere.",
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    name = forms.CharField(
        required=False, max_length=CAMPAIGN["name"].longest, help_text="Left empty, the one in the file."
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(f"Found {file.size:,} bytes; accepted: up to {MOST_BYTES:,}.")
        return file
