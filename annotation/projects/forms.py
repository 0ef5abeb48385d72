from django import forms

from annotation.core.forms import EditForm, RefusableForm
from annotation.models import Project, Role


class ProjectForm(forms.ModelForm):  # type: ignore[type-arg] # it takes none when it runs
    class Meta:
        model = Project
        fields = ("name", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
        help_texts = {"description": "What it is about, for its members."}


class ProjectEditForm(EditForm, ProjectForm):
    """The form of a project that exists."""


class MemberForm(RefusableForm):
    username = forms.CharField(max_length=150, help_text="The username of an account on this server.")
    role = forms.ChoiceField(
        choices=Role.choices,
        initial=Role.VIEWER,
        help_text="Viewers read. Managers also import, launch and compute. Owners also manage members.",
    )


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)
