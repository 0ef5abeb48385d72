"""Two people do something at the same moment: one of them gets what they asked for, the other an answer in words."""

import json
from collections.abc import Callable

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.campaigns.services.starting import campaign_start
from annotation.core.errors import AnnotationError
from annotation.datasets.services.content import DatasetContent
from annotation.datasets.services.datasets import dataset_update
from annotation.datasets.services.imports import dataset_create, dataset_import_create, dataset_import_execute
from annotation.datasets.services.lists import response_list_create, response_list_delete
from annotation.judgements.services.imports import rating_import_create, rating_import_execute
from annotation.judgements.services.options import RatingOptions
from annotation.judgements.services.preview import rating_import_confirm, rating_import_discard
from annotation.mining.services.corpora import corpus_delete
from annotation.models import (
    ApiToken,
    Campaign,
    CampaignState,
    Corpus,
    Dataset,
    DatasetImport,
    JobState,
    Membership,
    MiningRun,
    Project,
    ProviderAccount,
    RatingImport,
    ReferenceSet,
    Response,
    ResponseList,
    Role,
    User,
)
from annotation.projects.services.api_tokens import MOST_LIVE, api_token_create
from annotation.projects.services.projects import member_change, member_remove
from annotation.recruitment.providers.base import Arrival
from annotation.recruitment.services.accounts import account_remove
from annotation.recruitment.services.arrivals import arrival_admit
from annotation.recruitment.services.studies import recruitment_discard
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.datasets import EXAMPLES, example_dataset
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset, uploaded_corpus
from tests.annotation.worlds.recruited import make_recruitment
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


def test_two_requests_make_no_more_tokens_than_an_account_may_have(manager: User, client: Client) -> None:
    for number in range(MOST_LIVE - 1):
        ApiToken.objects.create(user=manager, name="Earlier", digest=str(number), ending="")

    def create() -> int:
        return client.post("/account/tokens/", {"name": "Another", "days": 30}).status_code

    race(lambda: api_token_create(user=manager, name="The last")[0].pk, create)
    assert manager.api_tokens.live().count() == MOST_LIVE


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


def test_of_two_corpora_under_one_name_the_second_is_refused_at_its_name(project: Project) -> None:
    first, second = race(lambda: uploaded_corpus(project), lambda: uploaded_corpus(project))
    assert isinstance(second, AnnotationError)
    assert (list(second.fields), "already; choose another name" in second.message) == (["name"], True)
    assert list(Corpus.objects.all()) == [first]


def test_a_corpus_is_deleted_or_searched_but_not_both(project: Project) -> None:
    seeds = seeds_dataset(project)
    corpus = indexed_corpus(project)
    run, refused = race(lambda: asked_run(project, seeds, corpus), lambda: corpus_delete(corpus=corpus))
    assert f"is used by mining run {run.pk}" in refused.message
    run.delete()
    _, refused = race(lambda: corpus_delete(corpus=corpus), lambda: asked_run(project, seeds, corpus))
    assert "was deleted just now" in refused.message
    assert not MiningRun.objects.exists()


def test_two_imports_that_give_a_system_one_other_name_share_it(dataset: Dataset, manager: User) -> None:
    def queued(name: str) -> RatingImport:
        content = b"rater,item,system,quality\nann,item-0,Eve,4\nbob,item-0,Bo,2\n"
        options = RatingOptions(aliases={"Eve": "Ada"})
        return rating_import_create(
            dataset=dataset, by=manager, name=name, filename="r.csv", content=content, options=options
        )

    one, two = queued("One"), queued("Two")
    race(lambda: rating_import_execute(import_id=one.pk), lambda: rating_import_execute(import_id=two.pk))
    assert [(job.state, job.error) for job in RatingImport.objects.all()] == [(JobState.DONE, "")] * 2
    assert dataset.systems.filter(name="Eve").count() == 1


def test_a_waiting_file_is_confirmed_or_discarded_but_not_both(dataset: Dataset, manager: User, client: Client) -> None:
    def waiting() -> RatingImport:
        content = b"rater,item,system,quality\nann,item-0,Ada,4\nbob,item-0,Bo,2\n"
        return rating_import_create(
            dataset=dataset, by=manager, name="Rated", filename="r.csv", content=content, draft=True
        )

    job = waiting()
    page = f"/p/chit-chat/rating-imports/{job.pk}/"
    confirmed, answer = race(
        lambda: rating_import_confirm(job=job), lambda: client.post(f"{page}discard/", follow=True)
    )
    assert confirmed
    assert "accepted: a file that is not confirmed" in answer.text
    assert RatingImport.objects.get(pk=job.pk).state == JobState.QUEUED
    job = waiting()
    page = f"/p/chit-chat/rating-imports/{job.pk}/"
    _, answer = race(lambda: rating_import_discard(job=job), lambda: client.post(f"{page}confirm/"))
    assert answer.status_code in (404, 409)
    assert "at the same moment" in answer.text
    assert not RatingImport.objects.filter(pk=job.pk).exists()


def test_a_recruitment_through_which_a_rater_just_came_is_not_discarded(dataset: Dataset) -> None:
    recruitment = make_recruitment(make_campaign(dataset, admission="account"), None)
    came = Arrival(rater="5f3c9e1a2b4d6f8091a2b3c4", session="64b0f1c2d3e4f5a6b7c8d9e0", study="")
    admitted, refused = race(
        lambda: arrival_admit(recruitment=recruitment, arrival=came),
        lambda: recruitment_discard(recruitment=recruitment),
    )
    assert "Raters have come through it" in refused.message
    assert admitted.submission.recruitment == recruitment


def test_two_patches_of_different_fields_at_the_same_moment_are_both_kept(dataset: Dataset, api: APIClient) -> None:
    read = api.get(f"{API}/datasets/{dataset.slug}/").json()
    first, answer = race(
        lambda: dataset_update(dataset=dataset, seen=read["version"], licence="CC BY 4.0"),
        lambda: api.patch(
            f"{API}/datasets/{dataset.slug}/", {"description": "Chats.", "version": read["version"]}, format="json"
        ),
    )
    assert first.licence == "CC BY 4.0"
    assert (answer.status_code, answer.json()["licence"], answer.json()["description"]) == (200, "CC BY 4.0", "Chats.")
