"""What every registered provider must do. A provider with an API brings ``<key>/fake.py`` beside its own tests."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from annotation.recruitment.forms import ProviderAccountForm, RecruitmentForm, RejectForm, declared_field
from annotation.recruitment.providers import PROVIDERS, open_provider, recruiting_providers
from annotation.recruitment.providers.base import (
    Arrival,
    Bonus,
    Capability,
    Outcome,
    Proof,
    Provider,
    RejectionReason,
    StudyDraft,
    StudyState,
    SubmissionStatus,
)
from annotation.recruitment.providers.codes import new_codes
from annotation.recruitment.providers.errors import ArrivalRefused, NotSupported, ProviderError
from annotation.recruitment.providers.retry import Backoff
from tests.annotation.recruitment.providers.fake_server import FakeProvider

WITH_API = [key for key, provider in PROVIDERS.items() if Capability.STUDIES in provider.capabilities]
RECRUITING = [provider.key for provider in recruiting_providers()]
CALLS: list[tuple[Capability, Callable[[Any, StudyDraft], object]]] = [
    (Capability.STUDIES, lambda client, draft: client.study_create(draft)),
    (Capability.STUDIES, lambda client, draft: client.study_publish("x", draft)),
    (Capability.STUDIES, lambda client, draft: client.study_pause("x")),
    (Capability.STUDIES, lambda client, draft: client.study_resume("x", draft)),
    (Capability.STUDIES, lambda client, draft: client.study_stop("x")),
    (Capability.STUDIES, lambda client, draft: client.study_fetch("x")),
    (Capability.STUDIES, lambda client, draft: client.study_extend("x", places=1, reference="r")),
    (Capability.SUBMISSIONS, lambda client, draft: client.submissions("x")),
    (Capability.SUBMISSIONS, lambda client, draft: client.submission("x")),
    (Capability.REVIEW, lambda client, draft: client.approve("x")),
    (Capability.REVIEW, lambda client, draft: client.reject("x", reason=RejectionReason.OTHER, message="m")),
    (Capability.REQUEST_RETURN, lambda client, draft: client.request_return("x", reason="r")),
    (Capability.BONUS, lambda client, draft: client.bonus_prepare("x", [])),
    (Capability.BONUS, lambda client, draft: client.bonus_pay(None)),
    (Capability.WEBHOOKS, lambda client, draft: client.webhook_secret()),
    (Capability.WEBHOOKS, lambda client, draft: client.webhook_subscribe("x")),
    (Capability.WEBHOOKS, lambda client, draft: client.webhook_event(headers={}, body=b"", secret="", now=None)),
]


@pytest.fixture(params=WITH_API)
def fake(request: pytest.FixtureRequest) -> Iterator[FakeProvider]:
    name = f"{__package__}.{request.param}.fake"
    assert find_spec(name), f"{request.param} has an API; its copy is expected in {name}"
    classes = [value for value in vars(import_module(name)).values() if isinstance(value, type)]
    (fake_class,) = [value for value in classes if issubclass(value, FakeProvider) and value is not FakeProvider]
    with fake_class() as server:
        server.key = request.param
        yield server


@pytest.fixture
def client(fake: Any, backoff: Backoff) -> Iterator[Provider]:
    with open_provider(
        fake.key, fake.values, endpoint=fake.base_url, settings=fake.settings, backoff=backoff
    ) as connected:
        yield connected


@pytest.fixture
def study(client: Provider) -> StudyDraft:
    return StudyDraft(
        title="Rate short replies",
        description="Read a message and rate the replies to it.",
        entry_url=client.entry_url("https://assay.example.org/r/in/abc/"),
        reward=Decimal("2.50"),
        places=5,
        minutes=15,
        reference="recruitment-1",
        codes=new_codes(),
    )


# --- The class --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", PROVIDERS)
def test_it_is_described_completely(key: str) -> None:
    provider = PROVIDERS[key]
    assert provider.key == key
    assert 1 <= len(key) <= 20
    assert provider.label
    variables = [setting.variable for any_provider in PROVIDERS.values() for setting in any_provider.settings]
    assert len(variables) == len(set(variables))
    assert not set(provider.least_per_hour) - set(provider.fair_per_hour)
    assert provider.fee_percent(places=1, agreed=Decimal(5)) >= 0
    assert isinstance(open_provider(key), provider)


@pytest.mark.parametrize("key", RECRUITING)
def test_it_has_texts_for_the_pages(key: str) -> None:
    provider = PROVIDERS[key]
    assert provider.connect_text
    assert provider.recruit_text
    assert provider.rater_id
    assert provider.parameters


@pytest.mark.parametrize("key", RECRUITING)
def test_its_fields_become_fields_of_the_forms(key: str) -> None:
    provider = PROVIDERS[key]
    account, study = ProviderAccountForm(provider=key), RecruitmentForm(provider=key, accounts=[])
    shown = {field.name for section in study.sections() for field in section.fields}
    for field in provider.account_fields:
        assert field.name not in ("name", "endpoint")
        assert account.fields[field.name].required == field.required
    for field in provider.study_fields:
        assert field.name not in RecruitmentForm.base_fields
        assert field.name in shown
        assert type(study.fields[field.name]) is type(declared_field(field))
    assert set(study.fields) == shown
    message = "x" * (provider.rejection.min_length - 1)
    assert "message" in RejectForm({"message": message, "reason": "other"}, provider=key).errors
    assert RejectForm({"message": f"{message}x", "reason": "other"}, provider=key).is_valid()


# --- Raters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", PROVIDERS)
def test_an_address_without_its_parameters_names_no_rater(key: str) -> None:
    assert open_provider(key).arrival({"colour": "red"}) is None


@pytest.mark.parametrize("key", PROVIDERS)
def test_completion_without_codes_has_no_address(key: str) -> None:
    assert open_provider(key).completion(Arrival("", "", ""), Outcome.COMPLETED, []).url == ""


# --- Capabilities, with its fake --------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", PROVIDERS)
def test_a_missing_capability_is_refused_by_name(key: str, draft: Callable[..., StudyDraft]) -> None:
    with open_provider(key) as provider:
        for capability, call in CALLS:
            if capability not in provider.capabilities:
                with pytest.raises(NotSupported, match=f"{provider.label} has no"):
                    call(provider, draft())


def test_the_account_has_a_name_and_the_providers_currency(client: Provider) -> None:
    account = client.account()
    assert account.name
    assert not client.currency or account.currency == client.currency


def test_a_study_goes_from_draft_to_completed(client: Provider, study: StudyDraft) -> None:
    drafted = client.study_create(study)
    assert drafted.state == StudyState.DRAFT
    assert list(client.submissions(drafted.id)) == []
    published = client.study_publish(drafted.id, study)
    assert (published.state, published.places) == (StudyState.PUBLISHED, 5)
    assert client.study_pause(published.id).state == StudyState.PAUSED
    assert client.study_resume(published.id, study).state == StudyState.PUBLISHED
    assert client.study_extend(published.id, places=6, reference="extend-1").places == 6
    with pytest.raises(ProviderError) as refusal:
        client.study_extend(published.id, places=5, reference="extend-2")
    assert "places" in refusal.value.fields
    assert client.study_stop(published.id).state == StudyState.COMPLETED


def test_an_unknown_field_is_refused(client: Provider, draft: Callable[..., StudyDraft]) -> None:
    with pytest.raises(ProviderError) as refusal:
        client.study_create(draft(extra={"shoe_size": "44"}))
    assert list(refusal.value.fields) == ["shoe_size"]


def test_a_rater_arrives_finishes_and_is_paid(client: Provider, fake: FakeProvider, study: StudyDraft) -> None:
    published = client.study_publish(client.study_create(study).id, study)
    submission, url = fake.rater_comes(published.id)
    query = dict(parse_qsl(urlsplit(url).query))
    assert set(client.parameters) <= set(query)
    arrival = client.arrival(query)
    assert arrival is not None
    assert (arrival.study, arrival.session, arrival.is_preview) == (published.id, submission, False)
    completion = client.completion(arrival, Outcome.COMPLETED, study.codes)
    assert completion.url.startswith(fake.base_url)
    fake.rater_finishes(submission, code=completion.code, fields=dict(completion.fields))
    (stored,) = client.submissions(published.id)
    assert (stored.id, stored.rater, stored.status) == (submission, arrival.rater, SubmissionStatus.AWAITING)
    assert stored.code == completion.code
    client.approve_many([submission])
    assert client.submission(submission).status == SubmissionStatus.APPROVED
    bonus = Bonus(submission, arrival.rater, Decimal("0.50"), "bonus-1", "Thank you")
    batch = client.bonus_prepare(published.id, [bonus])
    assert batch.amount == Decimal("0.50")
    assert batch.total == batch.amount + batch.fees
    client.bonus_pay(batch)


def test_an_arrival_is_confirmed_and_an_invented_one_is_not(
    client: Provider, fake: FakeProvider, study: StudyDraft
) -> None:
    published = client.study_publish(client.study_create(study).id, study)
    _, url = fake.rater_comes(published.id)
    arrival = client.arrival(dict(parse_qsl(urlsplit(url).query)))
    assert arrival is not None
    assert client.arrival_proof(arrival) in (Proof.RATER, Proof.SUBMISSION)
    with pytest.raises(ArrivalRefused):
        client.arrival_proof(replace(arrival, session="invented"))


def test_a_rejected_rater_is_not_paid(client: Provider, fake: FakeProvider, study: StudyDraft) -> None:
    published = client.study_publish(client.study_create(study).id, study)
    submission, url = fake.rater_comes(published.id)
    arrival = client.arrival(dict(parse_qsl(urlsplit(url).query)))
    assert arrival is not None
    completion = client.completion(arrival, Outcome.COMPLETED, study.codes)
    fake.rater_finishes(submission, code=completion.code, fields=dict(completion.fields))
    client.reject(submission, reason=RejectionReason.LOW_EFFORT, message="x" * client.rejection.min_length)
    assert client.submission(submission).status == SubmissionStatus.REJECTED


def test_subscribing_twice_makes_one_subscription(client: Provider) -> None:
    if Capability.WEBHOOKS not in client.capabilities:
        return
    subscription = client.webhook_subscribe("https://assay.example.org/providers/1/webhook")
    assert subscription
    assert client.webhook_subscribe("https://assay.example.org/providers/1/webhook") == subscription
