"""Forms for provider accounts, recruitments, decisions and bonuses. Each provider declares its additional fields."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django import forms
from django.conf import settings

from annotation.core.forms import EditForm, Form, RefusableForm, offer_choices
from annotation.models import Campaign, ProviderAccount, Recruitment, ReturnPolicy
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.base import (
    AfterCode,
    Capability,
    Field,
    FieldKind,
    Outcome,
    RejectionReason,
    Section,
)
from annotation.recruitment.providers.codes import ACTIONS
from annotation.recruitment.services.terms import Terms, expected_screens

RETURNS = [
    (ReturnPolicy.AT_ONCE, "Unfinished items go to others at once; answers sent count"),
    (ReturnPolicy.REPLACE, "Also the answers already sent are replaced by other raters’"),
    (ReturnPolicy.KEEP, "Nothing: what the rater holds runs out by its lease"),
]
CHOICES = {outcome: actions for outcome, actions in ACTIONS.items() if len(actions) > 1}


class WordsField(forms.CharField):
    """Read words separated by commas as a list."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):  # the initial value of a disabled field
            return value
        return [word.strip() for word in (super().to_python(value) or "").split(",") if word.strip()]

    def run_validators(self, value: list[str]) -> None:
        super().run_validators(", ".join(value))


def declared_field(field: Field) -> forms.Field:
    """Return the form field for a provider's declaration."""
    common: dict[str, Any] = {"label": field.label, "help_text": field.help, "required": field.required}
    match field.kind:
        case FieldKind.CHOICES:
            widget = forms.CheckboxSelectMultiple
            return forms.MultipleChoiceField(choices=field.choices, widget=widget, **common)
        case FieldKind.WORDS:
            return WordsField(max_length=field.max_length, **common)
        case FieldKind.SECRET:
            secret = forms.PasswordInput(attrs={"autocomplete": "off"})
            return forms.CharField(max_length=field.max_length, widget=secret, **common)
        case FieldKind.TEXT:
            return forms.CharField(max_length=field.max_length, **common)


class ProviderAccountForm(EditForm):
    makes = "account"
    name = forms.CharField(max_length=80, help_text="Raters never see it.")

    def __init__(self, *args: Any, provider: str, account: ProviderAccount | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if account is None:
            del self.fields["version"]
        for declared in PROVIDERS[provider].account_fields:
            field = self.fields[declared.name] = declared_field(declared)
            if declared.secret and account is not None and account.secrets:
                field.required = False
                field.help_text = "Stored encrypted and never shown. Leave empty to keep the current value."
        endpoints = [("", "The provider's standard address"), *PROVIDERS[provider].endpoints]
        endpoints += [(address, urlsplit(address).netloc) for address in settings.PROVIDER_ENDPOINTS]
        if len(endpoints) > 1:
            self.fields["endpoint"] = forms.ChoiceField(choices=endpoints, required=False, label="API address")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``account_connect`` and ``account_update``."""
        values = super().arguments()
        named: dict[str, Any] = {name: values.pop(name) for name in ("name", "endpoint", "seen") if name in values}
        return {**named, "values": values}


class FormSection(NamedTuple):
    title: str
    text: str
    fields: list[forms.BoundField]
    grid: bool


class RecruitmentForm(EditForm):
    makes = "recruitment"
    name = forms.CharField(max_length=120, help_text="For you and the other managers.")
    account = forms.ChoiceField(required=False)
    title = forms.CharField(max_length=128, required=False, help_text="Raters see it in the list of studies.")
    description = forms.CharField(
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What raters do, for how long, and for what purpose.",
    )
    places = forms.IntegerField(min_value=1, max_value=10_000, help_text="How many people can take part.")
    minutes = forms.IntegerField(
        label="Minutes needed", min_value=1, max_value=600, help_text="For a typical rater, including the instructions."
    )
    reward = forms.DecimalField(min_value=Decimal("0.01"), max_digits=8, decimal_places=2)
    currency = forms.CharField(min_length=3, max_length=3, help_text="The currency of your account at the provider.")
    return_policy = forms.ChoiceField(
        label="If a rater returns the submission or runs out of time",
        choices=RETURNS,
        widget=forms.RadioSelect,
        initial=ReturnPolicy.AT_ONCE,
    )
    approval_rate = forms.IntegerField(
        label="Minimum approval rate", min_value=0, max_value=100, required=False, help_text="Per cent."
    )
    approvals = forms.IntegerField(label="Minimum number of approved submissions", min_value=0, required=False)
    adult_content = forms.BooleanField(label="The texts may contain adult content", required=False)

    def __init__(
        self,
        *args: Any,
        provider: str,
        accounts: Iterable[ProviderAccount],
        recruitment: Recruitment | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.provider, self.recruitment = PROVIDERS[provider], recruitment
        label = self.provider.label
        self.accounts = {str(account.pk): account for account in accounts if account.provider == provider}
        choices = [(pk, account.name) for pk, account in self.accounts.items()]
        offer_choices(self, "account", [*choices, ("", f"None: I create the study at {label} by hand")])
        self.fields["account"].label = f"Account at {label}"
        self.fields["account"].initial = next(iter(self.accounts), "")
        del self.fields["version" if recruitment is None else "account"]
        if self.provider.currency:
            del self.fields["currency"]
        for declared in self.provider.study_fields:
            self.fields[declared.name] = declared_field(declared)
        pays_screen_outs = Capability.PAID_SCREEN_OUT in self.provider.capabilities
        if pays_screen_outs:
            self._add_screen_outs()
        for outcome, after in CHOICES.items():
            offered = [action for action in after if pays_screen_outs or action != AfterCode.PAY_SCREEN_OUT]
            self.fields[f"after_{outcome.value}"] = forms.ChoiceField(
                label=outcome.label,
                choices=[(action.value, action.label) for action in offered],
                initial=offered[0].value,
            )

    def _add_screen_outs(self) -> None:
        self.fields["screen_out_reward"] = forms.DecimalField(
            label="Amount for a screen-out",
            required=False,
            min_value=Decimal("0.01"),
            max_digits=8,
            decimal_places=2,
            help_text=f"Only if you chose it above; {self.provider.label} must allow it for your account.",
        )
        self.fields["screen_out_places"] = forms.IntegerField(
            label="Screen-outs at most",
            required=False,
            min_value=1,
            help_text=f"Then {self.provider.label} pauses the study.",
        )

    @property
    def after(self) -> dict[Outcome, AfterCode]:
        return {outcome: AfterCode(self.cleaned_data[f"after_{outcome.value}"]) for outcome in CHOICES}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``recruitment_update`` or, with a field for the account, ``recruitment_create``."""
        values = super().arguments()
        arguments: dict[str, Any] = {name: values[name] for name in ("name", "return_policy", "seen") if name in values}
        if "account" in self.fields:
            arguments["account"] = self.accounts.get(self.cleaned_data["account"])
        return {**arguments, "terms": self.terms, "after": self.after}

    @property
    def terms(self) -> Terms:
        data = self.cleaned_data
        return Terms(
            title=data["title"].strip(),
            description=data["description"].strip(),
            reward=data["reward"],
            places=data["places"],
            minutes=data["minutes"],
            currency=self.provider.currency or data["currency"].upper(),
            approval_rate=data["approval_rate"],
            approvals=data["approvals"],
            adult_content=data["adult_content"],
            screen_out_reward=data.get("screen_out_reward"),
            screen_out_places=data.get("screen_out_places"),
            extra={each.name: data[each.name] for each in self.provider.study_fields},
        )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        connected = self.recruitment.account_id if self.recruitment else data.get("account")
        for name in ("title", "description"):
            if connected and not data.get(name, "").strip() and name not in self.errors:
                self.add_error(name, "Found nothing; accepted: a text for raters.")
        return data

    def sections(self) -> list[FormSection]:
        after = [f"after_{outcome.value}" for outcome in CHOICES]
        extra = {part: [each.name for each in self.provider.study_fields if each.section == part] for part in Section}
        groups = [
            ("The study", "", ["name", "account", "title", "description", *extra[Section.STUDY]], False),
            ("Pay", "", ["places", "minutes", "reward", "currency"], True),
            (
                "Who may take part",
                "",
                ["approval_rate", "approvals", *extra[Section.ELIGIBILITY], "adult_content"],
                True,
            ),
            (
                "How a submission ends",
                "Each ending has its own code, by which the provider knows what to do.",
                [*after, "screen_out_reward", "screen_out_places"],
                True,
            ),
            ("Returned submissions", "", ["return_policy"], False),
        ]
        return [
            FormSection(title, text, [self[name] for name in names if name in self.fields], grid)
            for title, text, names, grid in groups
        ]


def recruitment_initial(campaign: Campaign, provider: str, *, seconds: float | None) -> dict[str, Any]:
    """Return a proposal; the reward follows from the campaign's rate and the items expected of one rater."""
    screens = expected_screens(campaign)
    minutes = max(1, round(screens * (seconds or 30) / 60) + 2)
    reward = (campaign.payment_per_unit * screens).quantize(Decimal("0.01"))
    number = campaign.recruitments.filter(provider=provider).count() + 1
    return {
        "name": f"{PROVIDERS[provider].label} {number}",
        "title": campaign.name,
        "minutes": minutes,
        "reward": reward or None,
        "currency": PROVIDERS[provider].currency or campaign.payment_currency,
    }


class RejectForm(RefusableForm):
    reason = forms.ChoiceField(label="Why", choices=[(reason.value, reason.label) for reason in RejectionReason])

    def __init__(self, *args: Any, provider: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rules = PROVIDERS[provider].rejection
        self.fields["message"] = forms.CharField(
            label="Message to the raters",
            help_text=rules.help,
            max_length=rules.max_length,
            widget=forms.Textarea(attrs={"rows": 4}),
        )
        self.min_length = rules.min_length
        if not rules.takes_reason:
            del self.fields["reason"]

    def clean_message(self) -> str:
        message: str = self.cleaned_data["message"]
        length = len(" ".join(message.split()))
        if length < self.min_length:
            raise forms.ValidationError(f"Found {length} characters; accepted: {self.min_length} or more.")
        return message


class ReturnForm(RefusableForm):
    reason = forms.CharField(label="Message to the raters", max_length=300, widget=forms.Textarea(attrs={"rows": 3}))


class BonusForm(RefusableForm):
    lines = forms.CharField(
        label="Raters and amounts",
        widget=forms.Textarea(attrs={"rows": 8, "class": "font-monospace", "spellcheck": "false"}),
        help_text="One line for each rater: the submission's id or the rater's name here, a comma, the amount.",
    )
    reason = forms.CharField(max_length=200, initial="For the additional items that you rated. Thank you!")


class PlacesForm(Form):
    places = forms.IntegerField(min_value=1, max_value=10_000, label="Places in all")
