import json

import pytest
from django.urls import reverse

from annotation.services.reference_sets import reference_set_create
from annotation.services.releases import release_build, release_create
from tests.annotation.rated import make_campaign, make_dataset, make_item, make_response, present, rate, rate_in


@pytest.fixture
def response(project):
    """Rated 4, 2 (corrected from 5) and, too late, 1; mean 3 of what counts."""
    dataset = make_dataset(project)
    response = make_response(make_item(dataset, "i1", context=["Hi."]), "Same words", "Human", "Robot")
    campaign = make_campaign(dataset)
    rate(campaign, "ann", response, 4)
    (first,) = rate(campaign, "bob", response, 5)
    rate_in(first.presentation, response, 2, revision=1)
    rate_in(present(campaign, "=cem", response, outcome="late"), response, 1, extra=True)
    return response


def page(name, *args):
    return reverse(f"annotation:{name}", args=["chit-chat", *args])


def test_it_shows_every_rating_and_what_became_of_it(response, viewer, as_user):
    answer = as_user(viewer).get(page("response-detail", response.pk))
    shown = [
        (logged.rating.rater.pseudonym, logged.rating.value, logged.status) for logged in answer.context["ratings"]
    ]
    assert shown == [("ann", 4, "counts"), ("bob", 5, "superseded"), ("bob", 2, "counts"), ("=cem", 1, "extra")]
    text = answer.content.decode()
    assert "Identical texts are one response" in text
    assert "4 in the log, 2 of them count" in text


@pytest.mark.parametrize(
    ("method", "step"),
    [
        ("linear", "mean 3.00 on 1–5 of 2 judgements → 0.00"),
        ("median", "median 3.00 on 1–5 of 2 judgements → 0.00"),
    ],
)
def test_a_weight_is_explained_from_its_judgements(project, response, viewer, as_user, method, step):
    dataset = response.item.dataset
    chosen = reference_set_create(
        project=project, dataset=dataset, name="R", campaigns=list(dataset.campaigns.all()), source_systems=["Human"]
    )
    release_build(release_id=release_create(reference_set=chosen, method=method).pk)
    (explained,) = as_user(viewer).get(page("response-detail", response.pk)).context["weights"]
    assert explained.judgements == [("bob", 2.0), ("ann", 4.0)]
    assert explained.steps[0] == step


def test_its_ratings_can_be_downloaded(response, viewer, as_user):
    def download(kind):
        answer = as_user(viewer).get(page("response-ratings-download", response.pk, kind))
        return b"".join(answer.streaming_content).decode()

    assert [row["status"] for row in json.loads(download("json"))] == ["counts", "superseded", "counts", "extra"]
    assert ",'=cem,quality,1.0," in download("csv")


def test_its_weights_can_be_downloaded_with_what_led_to_them(project, response, viewer, as_user):
    dataset = response.item.dataset
    chosen = reference_set_create(
        project=project, dataset=dataset, name="R", campaigns=list(dataset.campaigns.all()), source_systems=["Human"]
    )
    release_build(release_id=release_create(reference_set=chosen, method="linear").pk)
    answer = as_user(viewer).get(page("response-weights-download", response.pk, "json"))
    (row,) = json.loads(b"".join(answer.streaming_content))
    assert (row["reference_set"], row["release"], row["weight"], row["rating_mean"]) == ("r", 1, 0.0, 3.0)
    assert row["judgements"] == [{"rater": "bob", "value": 2.0}, {"rater": "ann", "value": 4.0}]


@pytest.mark.parametrize("name", ["response-detail", "response-ratings-download", "response-weights-download"])
def test_an_outsider_gets_404_and_post_is_rejected(response, viewer, outsider, as_user, name):
    address = page(name, response.pk, *(["csv"] if "download" in name else []))
    assert as_user(outsider).get(address).status_code == 404
    assert as_user(viewer).post(address).status_code == 405


def test_a_response_of_another_project_does_not_exist_here(response, outsider, as_user):
    assert as_user(outsider).get(f"/p/elsewhere/responses/{response.pk}/").status_code == 404
