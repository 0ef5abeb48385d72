from typing import Any

from django import forms

from annotation.core.forms import EditForm, NamingForm, RefusableForm
from annotation.models import Project, Role, User
from annotation.projects.services.invitations import MOST_DAYS, MOST_USES


class ProjectForm(NamingForm, forms.ModelForm):  # type: ignore[type-arg] # it takes none when it runs
    makes = "project"

    class Meta:
        model = Project
        fields = ("name", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
        help_texts = {"description": "What it is about, for its members."}


class ProjectEditForm(EditForm, ProjectForm):
    """The form of a project that exists."""


class DeletionForm(RefusableForm):
    confirmation = forms.CharField(
        label="The project's name", max_length=120, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


class MemberForm(RefusableForm):
    username = forms.CharField(max_length=150, help_text="The username of an account on this server.")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.VIEWER)


class InvitationForm(RefusableForm):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.VIEWER)
    most_uses = forms.IntegerField(
        label="For how many people", min_value=1, max_value=MOST_USES, initial=1, help_text="Each joins once."
    )
    days = forms.IntegerField(label="Works for, in days", min_value=1, max_value=MOST_DAYS, initial=7)

    def arguments(self) -> dict[str, Any]:
        return self.cleaned_data | {"role": Role(self.cleaned_data["role"])}


class RoleForm(EditForm):
    role = forms.ChoiceField(choices=Role.choices)

    def arguments(self) -> dict[str, Any]:
        values = super().arguments()
        return values | {"role": Role(values["role"])}


class ApiTokenForm(RefusableForm):
    makes = "token"
    name = forms.CharField(max_length=80, help_text="Which program or machine uses it, to know later what to revoke.")
    days = forms.TypedChoiceField(
        label="Works for",
        coerce=int,
        initial=90,
        choices=[(30, "30 days"), (90, "90 days"), (365, "a year"), (0, "ever, until revoked")],
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_name(self) -> str:
        """Refuse the name of another token: a form that is sent twice makes one."""
        name: str = self.cleaned_data["name"]
        if self.user.api_tokens.live().filter(name=name).exists():
            raise forms.ValidationError("You have a token with this name; accepted: another name.")
        return name
