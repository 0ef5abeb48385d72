"""Forms for a campaign from a template, from another campaign or from a file."""

from typing import Any

from django import forms

from annotation.campaigns.fields.table import CAMPAIGN
from annotation.campaigns.forms.fields import form_field
from annotation.campaigns.services.copies import parse_campaign_file
from annotation.core.file_limits import DESIGN_BYTES
from annotation.core.forms import RefusableForm, offer_rows
from annotation.core.uploads import upload_limit
from annotation.models import Campaign, Dataset, Project


class _IntoDataset(RefusableForm):
    dataset = forms.ModelChoiceField(Dataset.objects.none(), label="Data set", empty_label=None)

    def __init__(self, project: Project, data: Any = None, files: Any = None, **kwargs: Any) -> None:
        super().__init__(data, files, **kwargs)
        offer_rows(self, "dataset", Dataset.objects.filter(project=project))


class StartForm(_IntoDataset):
    inputs = {"template": ""}
    name = form_field(
        CAMPAIGN["name"],
        required=False,
        help_text="Raters see it, too. If empty, it says what raters do.",
    )


class CloneForm(_IntoDataset):
    makes = "campaign"
    name = form_field(CAMPAIGN["name"])

    def __init__(self, campaign: Campaign, data: Any = None, *, name: str = "") -> None:
        super().__init__(campaign.project, data, initial={"name": name, "dataset": campaign.dataset})


class ImportForm(_IntoDataset):
    file = forms.FileField(
        label="File",
        help_text="JSON, exported from a campaign of this or another installation.",
        validators=[upload_limit(max_bytes=DESIGN_BYTES)],
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    name = form_field(CAMPAIGN["name"], required=False, help_text="If empty, the name in the file is used.")

    def arguments(self) -> dict[str, Any]:
        data = dict(self.cleaned_data)
        return {"document": parse_campaign_file(data.pop("file").read()), **data}
