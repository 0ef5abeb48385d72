"""A provider that exists only in this file: to add one, its class is registered and nothing else is changed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Project, ProviderAccount, Recruitment, Submission, User
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services.wording import recruited
from annotation.recruitment.providers import PROVIDERS
from annotation.recruitment.providers.addresses import with_query
from annotation.recruitment.providers.base import (
    Account,
    Arrival,
    Capability,
    Completion,
    CompletionCode,
    Field,
    FieldKind,
    Outcome,
    Provider,
    RejectionRules,
    Study,
    StudyDraft,
    StudyState,
)
from annotation.recruitment.providers.base import Submission as Listed
from annotation.recruitment.providers.base import SubmissionStatus as ListedStatus
from annotation.recruitment.providers.codes import code_for
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

AsUser = Callable[[User], Client]


class Panel(Provider):
    """A panel whose service is the two dictionaries below."""

    key: ClassVar[str] = "panel"
    label: ClassVar[str] = "Village Panel"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.STUDIES, Capability.SUBMISSIONS, Capability.REVIEW, Capability.RETURNS}
    )
    account_fields: ClassVar[tuple[Field, ...]] = (
        Field("password", "Panel password", "On the notice board.", kind=FieldKind.SECRET, required=True),
    )
    connect_text: ClassVar[str] = "Neighbours who rate in the evening."
    connect_notice: ClassVar[str] = "The panel rests on Sundays."
    study_fields: ClassVar[tuple[Field, ...]] = (Field("street", "Street", "Where they live."),)
    recruit_text: ClassVar[str] = "Ask the neighbours."
    currency: ClassVar[str] = "EUR"
    parameters: ClassVar[tuple[str, ...]] = ("neighbour", "evening")
    rater_id: ClassVar[str] = "house number"
    rejection: ClassVar[RejectionRules] = RejectionRules(takes_reason=False, min_length=5, help="Be kind.")

    drafts: ClassVar[dict[str, StudyDraft]] = {}
    people: ClassVar[dict[str, Listed]] = {}

    def __init__(self, *, password: str = "", **connection: Any) -> None:
        super().__init__(**connection)
        self.password = password

    @classmethod
    def warnings(cls, *, places: int, agreed_fee: Decimal) -> list[str]:
        return ["The village has few neighbours."]

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        values = [query.get(name, "") for name in self.parameters]
        return Arrival(values[0], "evening-1", f"{values[0]}-{values[1]}") if all(values) else None

    def entry_url(self, url: str) -> str:
        return with_query(url, {"neighbour": "NEIGHBOUR", "evening": "EVENING"})

    def completion(self, arrival: Arrival, outcome: Outcome, codes: Sequence[CompletionCode]) -> Completion:
        code = code_for(codes, outcome)
        return Completion(url=f"https://panel.example.org/done/{code}", code=code)

    def account(self) -> Account:
        return Account("1", f"Village of {self.password}", self.currency, None)

    def study_create(self, draft: StudyDraft) -> Study:
        self.check_extra(draft)
        self.drafts["evening-1"] = draft
        return Study("evening-1", StudyState.DRAFT, "pinned up")

    def study_publish(self, study: str, draft: StudyDraft) -> Study:
        return Study(study, StudyState.PUBLISHED, "announced", places=draft.places, places_taken=0)

    def study_fetch(self, study: str) -> Study:
        return Study(study, StudyState.PUBLISHED, "announced")

    def submissions(self, study: str) -> Iterator[Listed]:
        yield from self.people.values()

    def submission(self, submission: str) -> Listed:
        return self.people[submission]

    def approve(self, submission: str) -> None:
        listed = self.people[submission]
        self.people[submission] = Listed(listed.id, listed.study, listed.rater, ListedStatus.APPROVED, "paid")


@pytest.fixture
def panel(monkeypatch: pytest.MonkeyPatch) -> type[Panel]:
    monkeypatch.setitem(PROVIDERS, Panel.key, Panel)
    monkeypatch.setattr(Panel, "drafts", {})
    monkeypatch.setattr(Panel, "people", {})
    return Panel


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(make_dataset(project), max_units_per_rater=1, payment_per_unit="1.00", payment_currency="EUR")


def test_a_registered_provider_class_works_on_every_page(
    panel: type[Panel], campaign: Campaign, manager: User, as_user: AsUser
) -> None:
    client = as_user(manager)
    account = connect(client, campaign, panel)
    recruitment = recruit(client, campaign, panel, account)
    submission = rate(campaign, panel, recruitment)
    pay(client, campaign, panel, recruitment, submission)
    assert "through Village Panel" in recruited(campaign_facts(campaign))


def args_of(campaign: Campaign) -> list[object]:
    return [campaign.project.slug, campaign.pk]


def shown(client: Client, name: str, *args: object) -> str:
    return client.get(reverse(f"annotation:{name}", args=args)).content.decode()


def connect(client: Client, campaign: Campaign, panel: type[Panel]) -> ProviderAccount:
    accounts = shown(client, "provider-accounts", campaign.project.slug)
    assert "Connect Village Panel" in accounts
    assert panel.connect_text in accounts
    url = reverse("annotation:provider-account-connect", args=[campaign.project.slug, "panel"])
    form = client.get(url).content.decode()
    assert panel.connect_notice in form
    assert "On the notice board." in form
    assert client.post(url, {"name": "Neighbours"}).context["form"].errors.keys() == {"password"}
    connected = client.post(url, {"name": "Neighbours", "password": "Oakham"}, follow=True).content.decode()
    assert "The connection works: Village of Oakham." in connected
    account = ProviderAccount.objects.get()
    assert account.get_provider_display() == "Village Panel"
    assert "Oakham" not in account.secrets
    return account


def recruit(client: Client, campaign: Campaign, panel: type[Panel], account: ProviderAccount) -> Recruitment:
    recruitments = shown(client, "campaign-recruitments", *args_of(campaign))
    assert "Recruit at Village Panel" in recruitments
    assert panel.recruit_text in recruitments
    create = reverse("annotation:campaign-recruitment-create", args=[*args_of(campaign), "panel"])
    response = client.get(create)
    assert "Amounts are in EUR." in response.content.decode()
    assert "Where they live." in response.content.decode()
    form = response.context["form"]
    data = {name: value for name, value in form.initial.items() if value is not None}
    data |= {name: field.initial for name, field in form.fields.items() if name.startswith("after_")}
    data |= {"account": account.pk, "description": "Rate replies.", "places": 3, "return_policy": "at_once"}
    drafted = client.post(create, {**data, "street": "Mill Lane"}, follow=True).content.decode()
    assert "The village has few neighbours." in drafted
    recruitment = Recruitment.objects.get()
    act = reverse("annotation:campaign-recruitment-act", args=[*args_of(campaign), recruitment.pk, "publish"])
    assert "Published at Village Panel." in client.post(act, follow=True).content.decode()
    assert panel.drafts["evening-1"].extra == {"street": "Mill Lane"}
    return recruitment


def rate(campaign: Campaign, panel: type[Panel], recruitment: Recruitment) -> Submission:
    """A rater arrives, rates and is sent back."""
    url = panel.drafts["evening-1"].entry_url.replace("NEIGHBOUR", "no7").replace("EVENING", "monday")
    query = dict(parse_qsl(urlsplit(url).query))
    rater = Client()
    refused = rater.get(reverse("annotation:provider-entry", args=[recruitment.link_token]))
    assert "neighbour, evening are missing" in refused.content.decode()
    landing = rater.get(reverse("annotation:provider-entry", args=[recruitment.link_token]), query, follow=True)
    assert landing.status_code == 200

    def rates(name: str) -> str:
        return reverse(f"annotation:rater-{name}", args=[campaign.link_token])

    rater.post(rates("consent"), {"agree": "1"})
    token = rater.get(rates("work")).context["presentation"].token
    rater.post(rates("submit"), {"token": str(token), "r0-relevance": "4"})
    assert "Finish at Village Panel" in rater.get(rates("finish")).content.decode()
    submission = Submission.objects.get()
    assert (submission.external_id, submission.outcome) == ("no7-monday", "completed")
    return submission


def pay(
    client: Client, campaign: Campaign, panel: type[Panel], recruitment: Recruitment, submission: Submission
) -> None:
    """Its raters are followed and paid."""
    panel.people["no7-monday"] = Listed(
        "no7-monday", "evening-1", "no7", ListedStatus.AWAITING, "waiting", code=submission.code
    )
    act = reverse("annotation:campaign-recruitment-act", args=[*args_of(campaign), recruitment.pk, "refresh"])
    assert "Village Panel" in client.post(act, follow=True).content.decode()
    review = reverse("annotation:campaign-recruitment-review", args=[*args_of(campaign), recruitment.pk])
    approved = client.post(review, {"submission": submission.pk, "act": "approve", "confirmed": 1}, follow=True)
    assert "1 of 1 approved." in approved.content.decode()
    assert "Be kind." not in approved.content.decode()
