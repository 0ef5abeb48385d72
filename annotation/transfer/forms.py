"""The form that uploads an archive of a project."""

from typing import Any

from django import forms

from annotation.core.forms import RefusableForm
from annotation.core.uploads import upload_limit


class ProjectImportForm(RefusableForm):
    file = forms.FileField(
        label="File",
        help_text="A zip that Export on a project's page of another Assay, or of this one, wrote.",
        widget=forms.FileInput(attrs={"accept": ".zip"}),
        validators=[upload_limit("; for a larger file, manage.py import_project")],
    )
    name = forms.CharField(
        label="Name of the project", max_length=120, required=False, help_text="Empty: the name that it had."
    )

    def arguments(self) -> dict[str, Any]:
        file = self.cleaned_data["file"]
        return {"filename": file.name, "content": file.read(), "name": self.cleaned_data["name"]}
