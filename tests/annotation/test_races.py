"""Two people do something at the same moment: one of them gets what they asked for, the other an answer in words."""

import json
from collections.abc import Callable

import pytest
from django.test import Client
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from annotation.campaigns.services.starting import campaign_start
from annotation.datasets.services.content import DatasetContent
from annotation.datasets.services.imports import dataset_create, dataset_import_create, dataset_import_execute
from annotation.datasets.services.lists import response_list_create, response_list_delete
from annotation.judgements.services.imports import rating_import_create, rating_import_execute
from annotation.models import (
    Campaign,
    CampaignState,
    Dataset,
    DatasetImport,
    JobState,
    Membership,
    Project,
    ProviderAccount,
    RatingImport,
    ReferenceSet,
    Response,
    ResponseList,
    Role,
    User,
)
from annotation.projects.services.api_tokens import api_token_get_or_create, api_token_rotate
from annotation.projects.services.projects import member_change, member_remove
from annotation.recruitment.services.accounts import account_remove
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.datasets import EXAMPLES, example_dataset
from tests.races import race

pytestmark = pytest.mark.django_db(transaction=True)

AsUser = Callable[[User], Client]
API = "/api/v1/projects/chit-chat"


@pytest.fixture
def client(manager: User, as_user: AsUser) -> Client:
    return as_user(manager)


@pytest.fixture
def api(manager: User) -> APIClient:
    api = APIClient(raise_request_exception=False)
    api.force_login(manager)
    return api


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return make_dataset(project, items=1)


def test_of_two_new_tokens_the_later_one_works(manager: User, client: Client) -> None:
    def rotate() -> int:
        return client.post("/account/token/rotate/").status_code

    for earlier in (api_token_get_or_create, api_token_rotate):  # creates the first, replaces one
        first, second = race(lambda earlier=earlier: earlier(user=manager).key, rotate)
        assert second == 302
        assert Token.objects.get(user=manager).key != first


def test_what_another_request_has_just_deleted_is_refused_in_words(
    dataset: Dataset, manager: User, client: Client, api: APIClient
) -> None:
    def new_list() -> ResponseList:
        responses = list(Response.objects.values_list("pk", flat=True)[:1])
        return response_list_create(dataset=dataset, name="Again", responses=responses, origin={})

    listed = new_list()
    page = f"http://testserver/p/chit-chat/lists/{listed.pk}/"
    _, answer = race(
        lambda: response_list_delete(response_list=listed),
        lambda: client.post(f"{page}delete/", headers={"Referer": page}),
    )
    assert answer.status_code == 409
    assert "Another request changed or deleted this at the same moment" in answer.text
    assert f'href="{page}"' in answer.text
    listed = new_list()
    _, answer = race(
        lambda: response_list_delete(response_list=listed), lambda: api.delete(f"{API}/response-lists/{listed.pk}/")
    )
    assert (answer.status_code, "at the same moment" in answer.json()["detail"]) == (409, True)


def test_what_was_just_deleted_is_refused_at_the_field_that_names_it(
    dataset: Dataset, project: Project, manager: User, client: Client, api: APIClient
) -> None:
    responses = list(Response.objects.values_list("pk", flat=True)[:1])
    listed = response_list_create(dataset=dataset, name="Again", responses=responses, origin={})
    draft = {
        "dataset": dataset.slug,
        "name": "Listed",
        "target": "listed",
        "response_list": listed.pk,
        "criteria": [{"name": "quality", "question": "How good is it?"}],
    }
    _, answer = race(
        lambda: response_list_delete(response_list=listed), lambda: api.post(f"{API}/campaigns/", draft, format="json")
    )
    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["response_list"])
    assert "was deleted just now" in answer.json()["detail"]
    assert not Campaign.objects.exists()

    listed = response_list_create(dataset=dataset, name="Again", responses=responses, origin={})
    draft["response_list"] = listed.pk
    created, answer = race(
        lambda: api.post(f"{API}/campaigns/", draft, format="json").status_code,
        lambda: api.delete(f"{API}/response-lists/{listed.pk}/"),
    )
    assert (created, answer.status_code) == (201, 400)
    assert "“Again” is rated in Listed" in answer.json()["detail"]

    campaign = make_campaign(dataset)
    account = ProviderAccount.objects.create(project=project, provider="prolific", name="Ours")
    address = f"/p/chit-chat/campaigns/{campaign.pk}/recruitment/new/prolific/"
    form = {field.html_name: field.value() for field in client.get(address).context["form"]}
    filled = {name: value for name, value in form.items() if value not in (None, "")}
    sent = {**filled, "account": account.pk, "description": "Rate replies.", "places": 3, "reward": "1.00"}
    _, answer = race(lambda: account_remove(account=account), lambda: client.post(address, sent))
    assert answer.status_code == 200
    assert answer.context["form"].errors == {"account": ["“Ours” was removed just now; accepted: another account."]}


def test_the_last_owner_stays_if_roles_change_at_the_same_moment(project: Project, owner: User, manager: User) -> None:
    promoted = Membership.objects.get(user=manager)
    stale = Membership.objects.get(user=manager)

    def promote_and_leave() -> None:
        member_change(membership=promoted, role=Role.OWNER)
        member_remove(membership=Membership.objects.get(user=owner))

    _, refusal = race(promote_and_leave, lambda: member_remove(membership=stale))
    assert "A project needs an owner" in str(refusal)
    assert [member.user for member in Membership.objects.filter(role=Role.OWNER)] == [manager]


def test_of_two_imports_under_one_name_the_later_one_fails_in_words(project: Project, manager: User) -> None:
    line = json.dumps({"id": "1", "message": "Hi.", "outputs": {"Ada": "Hello."}}).encode()
    job = dataset_import_create(project=project, by=manager, name="Small", filename="a.jsonl", content=line)
    race(
        lambda: dataset_create(project=project, name="Small", content=DatasetContent()),
        lambda: dataset_import_execute(import_id=job.pk),
    )
    done = DatasetImport.objects.get()
    assert done.state == JobState.FAILED
    assert "this project has a data set 'small' already; choose another name" in done.error

    dataset = example_dataset(project, name="Rated")
    ratings = (EXAMPLES / "ratings.csv").read_bytes()
    judged = rating_import_create(dataset=dataset, by=manager, name="Judged", filename="ratings.csv", content=ratings)
    race(
        lambda: make_campaign(dataset, name="Judged", launch=False),
        lambda: rating_import_execute(import_id=judged.pk),
    )
    stored = RatingImport.objects.get()
    assert stored.state == JobState.FAILED
    assert "this project has a campaign 'Judged' already; choose another name" in stored.error


def test_two_that_get_their_name_from_the_product_get_two_names(
    dataset: Dataset, project: Project, manager: User, api: APIClient
) -> None:
    def start() -> str:
        return campaign_start(project=project, dataset=dataset, template="delta-bleu-systems", by=manager).name

    started = {"dataset": dataset.slug, "template": "delta-bleu-systems"}
    first, answer = race(start, lambda: api.post(f"{API}/campaigns/start/", started, format="json"))
    assert (answer.status_code, answer.json()["name"]) == (201, f"{first} (2)")

    campaign = make_campaign(dataset)
    assert campaign.state == CampaignState.RUNNING
    body = {"dataset": dataset.slug, "name": "Humans", "campaigns": [campaign.name], "source_kinds": ["human"]}
    _, answer = race(
        lambda: reference_set_create(dataset=dataset, name="Humans", campaigns=[campaign], source_kinds=["human"]),
        lambda: api.post(f"{API}/reference-sets/", body, format="json"),
    )
    assert (answer.status_code, answer.json()["slug"]) == (201, "humans-2")
    assert sorted(ReferenceSet.objects.values_list("slug", flat=True)) == ["humans", "humans-2"]
