import json
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Participation, ResponseSource, SourceKind
from annotation.quality.services.decisions import rater_exclude
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.rated import (
    make_campaign,
    make_dataset,
    make_item,
    make_response,
    present,
    rate,
    rate_in,
)


@pytest.fixture
def response(project):
    """Rated 4, 2 (corrected from 5) and, too late, 1; the ratings that count have a mean of 3."""
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


def test_it_shows_every_rating_with_its_status(response, viewer, as_user):
    answer = as_user(viewer).get(page("response-detail", response.pk))
    shown = [
        (logged.rating.rater.pseudonym, logged.rating.value, logged.status) for logged in answer.context["ratings"]
    ]
    assert shown == [("ann", 4, "counts"), ("bob", 5, "superseded"), ("bob", 2, "counts"), ("=cem", 1, "extra")]
    text = answer.content.decode()
    assert "Identical texts are one response" in text
    assert "4 in the log, 2 of them count" in text


def test_the_rating_of_an_excluded_rater_does_not_count(response, viewer, as_user):
    campaign = response.ratings.first().campaign
    bob = response.ratings.get(revision=1).rater
    Participation.objects.get_or_create(campaign=campaign, rater=bob, defaults={"order_seed": 0})
    rater_exclude(campaign=campaign, rater=bob, reason="Spam")
    answer = as_user(viewer).get(page("response-detail", response.pk))
    assert [logged.status for logged in answer.context["ratings"]] == ["counts", "superseded", "excluded", "extra"]
    text = answer.content.decode()
    assert "4 in the log, 1 of them counts" in text
    assert "rater excluded" in text


@pytest.mark.parametrize(
    ("method", "step"),
    [
        ("linear", "mean 3.00 on 1–5 of 2 judgements → 0.00"),
        ("median", "median 3.00 on 1–5 of 2 judgements → 0.00"),
    ],
)
def test_a_weight_is_explained_from_its_judgements(project, response, viewer, as_user, method, step):
    dataset = response.item.dataset
    reference_set = reference_set_create(
        dataset=dataset, name="R", campaigns=list(dataset.campaigns.all()), source_systems=["Human"]
    )
    release_build(release_id=release_create(reference_set=reference_set, method=method).pk)
    (explained,) = as_user(viewer).get(page("response-detail", response.pk)).context["weights"]
    assert explained.judgements == [("bob", 2.0), ("ann", 4.0)]
    assert explained.steps[0] == step


def test_its_ratings_can_be_downloaded(response, viewer, as_user):
    def download(kind):
        answer = as_user(viewer).get(page("response-ratings-download", response.pk, kind))
        return b"".join(answer.streaming_content).decode()

    assert [row["status"] for row in json.loads(download("json"))] == ["counts", "superseded", "counts", "extra"]
    assert ",'=cem,quality,,1.0," in download("csv")


def test_its_weights_can_be_downloaded_with_their_judgements(project, response, viewer, as_user):
    dataset = response.item.dataset
    reference_set = reference_set_create(
        dataset=dataset, name="R", campaigns=list(dataset.campaigns.all()), source_systems=["Human"]
    )
    release_build(release_id=release_create(reference_set=reference_set, method="linear").pk)
    answer = as_user(viewer).get(page("response-weights-download", response.pk, "json"))
    (row,) = json.loads(b"".join(answer.streaming_content))
    assert (row["reference_set"], row["release"], row["weight"], row["rating_mean"]) == ("r", 1, 0.0, 3.0)
    assert row["judgements"] == [{"rater": "bob", "value": 2.0}, {"rater": "ann", "value": 4.0}]


def test_it_shows_the_order_the_times_and_the_duration_of_each_rating(response, viewer, as_user):
    rating = response.ratings.order_by("pk").first()
    rating.presentation.order_seed, rating.presentation.order = 1234567890123, [0]
    rating.presentation.save()
    text = as_user(viewer).get(page("response-detail", response.pk)).content.decode()
    assert 'title="1234567890123"' in text
    assert re.search(r'<td class="num" data-label="Seconds">\s*6\.0\s*</td>', text)
    assert text.count('datetime="2026-03-01T12:00:00') == 4  # shown
    assert text.count('datetime="2026-03-01T12:00:06') == 4  # sent


def test_the_downloaded_log_holds_the_seed_and_the_seconds(response, viewer, as_user):
    answer = as_user(viewer).get(page("response-ratings-download", response.pk, "json"))
    rows = json.loads(b"".join(answer.streaming_content))
    assert [row["seconds"] for row in rows] == [6.0, 6.0, 6.0, 6.0]
    assert [row["order_seed"] for row in rows] == [None] * 4


def test_a_mined_response_shows_the_conversation_it_was_found_in(response, viewer, as_user):
    ResponseSource.objects.create(
        response=response,
        item=response.item,
        kind=SourceKind.MINED,
        rank=3,
        score=17.25,
        source_context=["Long ago <b>"],
        source_message="What did they say?",
        raw_text="Same  words",
    )
    text = " ".join(as_user(viewer).get(page("response-detail", response.pk)).content.decode().split())
    assert "<strong>Mined</strong>, rank 3, score 17.250" in text
    assert "Long ago &lt;b&gt;" in text
    assert "What did they say?" in text
    assert "Original text:" in text


def test_every_release_that_weighs_it_is_shown_and_a_deprecated_one_is_marked(project, response, viewer, as_user):
    dataset = response.item.dataset
    reference_set = reference_set_create(
        dataset=dataset, name="R", campaigns=list(dataset.campaigns.all()), source_systems=["Human"]
    )
    for _ in range(2):
        release = release_create(reference_set=reference_set, method="linear")
        release_build(release_id=release.pk)
    release.refresh_from_db()
    release.deprecated_at, release.deprecation_reason = timezone.now(), "a wrong scale"
    release.save()
    text = " ".join(as_user(viewer).get(page("response-detail", response.pk)).content.decode().split())
    assert "R v1</a>" in text
    assert 'R v2</a> <span class="badge-status badge-warning" title="a wrong scale">deprecated</span>' in text
    assert reverse("metrics:release-item", args=["chit-chat", "r", 1, response.item.pk]) in text
    assert reverse("metrics:response-matches", args=["chit-chat", response.pk]) in text


@pytest.mark.parametrize("name", ["response-detail", "response-ratings-download", "response-weights-download"])
def test_an_outsider_gets_404_and_post_is_rejected(response, viewer, outsider, as_user, name):
    address = page(name, response.pk, *(["csv"] if "download" in name else []))
    assert as_user(outsider).get(address).status_code == 404
    assert as_user(viewer).post(address).status_code == 405


def test_a_response_of_another_project_is_404(response, outsider, as_user):
    assert as_user(outsider).get(f"/p/elsewhere/responses/{response.pk}/").status_code == 404
