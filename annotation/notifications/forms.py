"""The form of a member's notifications."""

from typing import Any

from django import forms

from annotation.core.forms import RefusableForm
from annotation.models import NotificationSettings, Role
from annotation.notifications.kinds import offered_kinds


class NotificationsForm(RefusableForm):
    webhook_url = forms.CharField(
        label="Address for webhooks",
        required=False,
        max_length=500,
        help_text="An address of a program of yours that takes a POST, such as https://example.org/assay. A new "
        "address gets a new secret.",
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, data: Any = None, *, chosen: NotificationSettings, role: Role) -> None:
        kinds = offered_kinds(role)
        choices = [(kind.key, kind.label) for kind in kinds]
        initial = {"webhook_url": chosen.webhook_url, "by_email": chosen.by_email, "by_webhook": chosen.by_webhook}
        super().__init__(data, initial=initial)
        for name, label in (("by_email", "By e-mail"), ("by_webhook", "By webhook")):
            self.fields[name] = forms.MultipleChoiceField(label=label, choices=choices, required=False)
        ticked = {name: set(self[name].value() or ()) for name in ("by_email", "by_webhook")}
        self.rows = [(kind, kind.key in ticked["by_email"], kind.key in ticked["by_webhook"]) for kind in kinds]
