"""Recruitments at copies of the providers, for the tests of services, pages and browsers."""

from dataclasses import replace
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

from annotation.models import Campaign, Project, ProviderAccount, Recruitment
from annotation.recruitment.providers.base import AfterCode, Arrival, Outcome
from annotation.recruitment.services import accounts, arrivals, studies
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.terms import Terms
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific

TERMS = Terms(
    title="Rate replies",
    description="Read a message and rate the replies to it.",
    reward=Decimal("2.50"),
    places=5,
    minutes=15,
)


def prolific_account(project: Project, fake: FakeProlific) -> ProviderAccount:
    values = {"token": fake.token, "workspace": fake.workspace}
    return accounts.account_connect(
        project=project, provider="prolific", name="Lab", values=values, endpoint=fake.base_url
    )


def mturk_account(project: Project, fake: FakeMechanicalTurk) -> ProviderAccount:
    values = {"access_key": fake.access_key, "secret_key": fake.secret_key}
    return accounts.account_connect(
        project=project, provider="mturk", name="Turk", values=values, endpoint=fake.base_url
    )


def make_recruitment(
    campaign: Campaign,
    account: ProviderAccount | None,
    *,
    provider: str = "prolific",
    publish: bool = True,
    after: dict[Outcome, AfterCode] | None = None,
    policy: str = "at_once",
    base: str = "http://127.0.0.1:8000",
    **terms: object,
) -> Recruitment:
    recruitment = studies.recruitment_create(
        campaign=campaign,
        provider=provider,
        name="First wave",
        terms=replace(TERMS, currency="USD" if provider == "mturk" else "GBP", **terms),  # type: ignore[arg-type]
        after=after or {},
        account=account,
        return_policy=policy,
    )
    if publish and account is not None:
        entry = f"{base}/r/in/{recruitment.link_token}/"
        recruitment = studies.recruitment_publish(recruitment=recruitment, entry_url=entry)
    return recruitment


def arrival_of(recruitment: Recruitment, url: str) -> Arrival:
    arrival = provider_of(recruitment.provider).arrival(dict(parse_qsl(urlsplit(url).query)))
    assert arrival is not None
    return arrival


def comes(recruitment: Recruitment, fake: FakeProlific, participant: str = "") -> arrivals.Admission:
    """Let a participant take a place at Prolific and open the link."""
    _, url = fake.participant_enters(recruitment.external_id, participant)
    return arrivals.arrival_admit(recruitment=recruitment, arrival=arrival_of(recruitment, url))
