"""Raters write references or corrections, which become responses, are rated by others, and are released."""

import io
import json
import zipfile
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.services.copies import campaign_clone
from annotation.campaigns.services.documents import campaign_export
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.validation import draft_problems
from annotation.core.errors import AnnotationError
from annotation.models import AnswerDraft, Campaign, Presentation, Rater, ResponseSource, Target, User, WrittenText
from annotation.rating.selectors.handout import has_work, progress
from annotation.rating.services.answers import Written
from annotation.rating.services.handout import unit_request
from annotation.rating.services.publishing import written_add, written_rate
from annotation.rating.services.raters import participation_start
from annotation.rating.services.ratings import ratings_submit
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services.archive import record_chunks
from annotation.records.services.methods import methods_text
from tests.annotation.worlds.campaigns import RELEVANCE, join, make_campaign, make_dataset, rate_next

REFERENCE = {"asks": "reference", "question": "Write a reply.", "least": 5, "most": 80, "language": "en"}
CORRECTION = {"asks": "correction", "question": "Correct it.", "copies": "refuse"}


def url(name: str, campaign: Campaign) -> str:
    return reverse(f"annotation:rater-{name}", args=[campaign.link_token])


def writing(project, **options: object) -> Campaign:
    options = {"criteria": [], "writing": REFERENCE, "ratings_per_unit": 2, **options}
    return make_campaign(make_dataset(project, items=2, systems=("Ada", "Bo")), **options)


def write(campaign: Campaign, rater: Rater, text: str, **options: object) -> Presentation:
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    ratings_submit(token=presentation.token, rater=rater, values={}, written=Written(text, **options))
    return presentation


def test_a_rater_writes_a_reference_and_sees_no_response(project, client: Client) -> None:
    campaign = writing(project)
    assert (campaign.design["units"], campaign.design["slots"]) == (2, 4)  # an item is asked once of each rater
    assert "Write a reply." in client.get(url("landing", campaign)).content.decode()
    client.post(url("consent", campaign))
    page = client.get(url("work", campaign)).content.decode()
    assert "Write a reply." in page
    assert "would pick" not in page
    token = str(Presentation.objects.get().token)

    def send(text: str, **fields: str):
        return client.post(url("submit", campaign), {"token": token, "written": text, **fields})

    short = send("No.")
    assert short.status_code == 400
    assert "the least number of characters is 5" in short.content.decode()
    warned = send("Das weiß ich leider nicht so genau, mein Freund.")
    assert warned.status_code == 400
    assert "Send it all the same" in warned.content.decode()
    assert not WrittenText.objects.exists()
    client.post(url("draft", campaign), {"token": token, "written": "Half a tex"})
    assert AnswerDraft.objects.get().fields == {"written": "Half a tex"}
    assert "Half a tex" in client.get(url("work", campaign)).content.decode()
    assert send("I have no idea, sorry.", **{"written-pasted": "22"}).status_code == 302
    text = WrittenText.objects.get()
    assert (text.text, text.remarks, text.given) == ("I have no idea, sorry.", ["pasted"], None)
    send("I have no idea, I am afraid.")
    assert list(WrittenText.objects.values_list("revision", flat=True)) == [0, 1]


def test_a_correction_is_of_the_response_shown_and_no_copy_of_it(project) -> None:
    campaign = writing(project, criteria=[RELEVANCE], writing=CORRECTION)
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    given = presentation.unit.responses.get()
    values = {(0, "relevance"): 3}
    with pytest.raises(AnnotationError, match="almost the text that you were shown") as refused:
        ratings_submit(token=presentation.token, rater=rater, values=values, written=Written(given.text, sure=True))
    assert "written" in refused.value.fields
    ratings_submit(token=presentation.token, rater=rater, values=values, written=Written("It is what she would pick."))
    assert WrittenText.objects.get().given == given
    assert campaign.ratings.count() == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"presentation": "pair"}, "one response at a time"),
        ({"criteria": [RELEVANCE]}, "accepted: no criteria"),
        ({"writing": {}}, "accepted: 1 to 5"),
        ({"qualification": {"attempts": 1}}, "none where raters write"),
    ],
)
def test_a_design_that_cannot_be_is_refused(project, change: dict, problem: str) -> None:
    draft = replace(draft_of(writing(project, launch=False)), **change)
    assert problem in " ".join(text for texts in draft_problems(project, draft).values() for text in texts)


def test_what_was_written_is_rated_by_others_only(project, as_user, manager: User, viewer: User) -> None:
    campaign = writing(project)
    ann, bob = join(campaign, "Ann"), join(campaign, "Bob")
    for rater in (ann, bob):
        for number in range(2):
            write(campaign, rater, f"{rater.pseudonym} would rather say {number} things.")
    page = reverse("annotation:campaign-written", args=[project.slug, campaign.pk])
    assert "4 texts, 4 of them not in the data set yet" in " ".join(as_user(viewer).get(page).content.decode().split())
    before = campaign.dataset.content_hash
    answer = as_user(manager).post(page, {"then": "rate"})

    draft = Campaign.objects.exclude(pk=campaign.pk).get()
    assert answer.headers["Location"].endswith(f"/campaigns/{draft.pk}/edit/review/")
    campaign.dataset.refresh_from_db()
    assert campaign.dataset.content_hash != before
    assert (draft.target, draft.response_list.responses.count()) == (Target.LISTED, 4)
    sources = ResponseSource.objects.filter(written_by__isnull=False)
    assert {(source.kind, source.written_by.pseudonym) for source in sources} == {("human", "Ann"), ("human", "Bob")}
    assert written_add(campaign=campaign) == 0  # once each
    one = sources.filter(written_by=ann).first()
    response = as_user(viewer).get(reverse("annotation:response-detail", args=[project.slug, one.response_id]))
    assert "Written by a person</strong>, Ann" in response.content.decode()

    Campaign.objects.filter(pk=draft.pk).update(consent="", ratings_per_unit=2, max_units_per_rater=None)
    second = campaign_launch(campaign=Campaign.objects.get(pk=draft.pk))
    for rater in (ann, bob):
        join_again(second, rater)
        rated = []
        assert progress(campaign=second, rater=rater).left == 2
        while presentation := rate_next(second, rater):
            rated.append(presentation.unit.responses.get().text)
        assert len(rated) == 2
        assert not any(rater.pseudonym in text for text in rated)
        assert not has_work(campaign=second, rater=rater)


def join_again(campaign: Campaign, rater: Rater) -> None:
    participation_start(campaign=campaign, rater=rater)


def test_excluded_raters_texts_stay_out_and_the_record_has_all(project) -> None:
    campaign = writing(project)
    ann, bob = join(campaign, "Ann"), join(campaign, "Bob")
    write(campaign, ann, "I would rather say nothing.")
    write(campaign, bob, "Perhaps, who can tell?")
    campaign.participations.filter(rater=bob).update(excluded_at=timezone.now())
    assert written_add(campaign=campaign) == 1
    with zipfile.ZipFile(io.BytesIO(b"".join(record_chunks(campaign)))) as zipped:
        rows = [json.loads(line) for line in zipped.read("written_texts.jsonl").splitlines()]
    assert [(row["text"], row["response"] is not None) for row in rows] == [
        ("I would rather say nothing.", True),
        ("Perhaps, who can tell?", False),
    ]
    text = methods_text(campaign_facts(campaign))
    assert "Raters wrote about 2 items of the data set chat" in text
    assert "They saw one item at a time. The target was 2 answers to each" in text
    assert "Raters wrote a reference of their own for each item, of 5 to 80 characters; 1 text in all." in text
    with pytest.raises(AnnotationError, match="nothing to rate"):
        written_rate(campaign=writing_of(project))


def writing_of(project) -> Campaign:
    return make_campaign(make_dataset(project, items=1, name="empty"), name="Empty", criteria=[], writing=REFERENCE)


def test_every_page_of_a_campaign_without_criteria_opens(project, as_user, manager: User) -> None:
    campaign = writing(project)
    rater = join(campaign)
    for number in range(2):
        write(campaign, rater, f"I would say {number} things.", pasted=40)
    client = as_user(manager)
    pages = ("detail", "results", "design", "raters", "quality", "ratings", "recruitments", "dry-runs", "records")
    for name in (*pages, "record-methods", "record-datasheet", "written", "preview", "audit"):
        answer = client.get(reverse(f"annotation:campaign-{name}", args=[project.slug, campaign.pk]))
        assert answer.status_code == 200, name
    one = reverse("annotation:campaign-rater", args=[project.slug, campaign.pk, rater.pk])
    api = f"/api/v1/projects/{project.slug}/campaigns/{campaign.pk}/"
    for address in (one, reverse("annotation:project-detail", args=[project.slug])):
        assert client.get(address).status_code == 200
    assert client.get(api).json()["writing"]["asks"] == "reference"
    texts = client.get(f"{api}written/").json()["results"]
    assert {text["item"] for text in texts} == {"item-0", "item-1"}
    assert [text["response"] for text in texts] == [None, None]
    draft = client.post(f"{api}written/rate/")
    assert (draft.status_code, draft.json()["target"]) == (201, "listed")
    assert (
        "pasted"
        in client.get(reverse("annotation:campaign-written", args=[project.slug, campaign.pk])).content.decode()
    )
    assert campaign_export(campaign)["writing"] == campaign_clone(campaign=campaign).writing
