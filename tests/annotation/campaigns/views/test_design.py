"""The steps in which a campaign is designed, the preview and the prepared items."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.campaigns.design.scale_words import Point, described_points
from annotation.campaigns.fields.table import CAMPAIGN, RATERS, SCREEN
from annotation.campaigns.services.rules import rules_register
from annotation.dry_runs.services.running import dry_run_create
from annotation.models import Campaign, Criterion, Presentation, Project, Response, User
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

AsUser = Callable[[User], Client]
STEPS = ["what", "screen", "words", "raters", "quality", "review"]


@pytest.fixture
def draft(project: Project) -> Campaign:
    return make_campaign(make_dataset(project), launch=False, ratings_per_unit=3)


def url(name: str, campaign: Campaign, *more: object) -> str:
    return reverse(f"annotation:campaign-{name}", args=[campaign.project.slug, campaign.pk, *more])


def page(response: Any) -> str:
    return str(response.content.decode())


def defaults_of(step: str) -> dict[str, Any]:
    """Return the values in the step's form for a new draft, without empty ones."""
    defaults = {name: field.default for name, field in CAMPAIGN.items() if field.step == step and not field.related}
    return {name: value for name, value in defaults.items() if value not in (None, (), "")}


def screen_data(**changes: object) -> dict[str, object]:
    return {
        **defaults_of(SCREEN),
        "presentation": "single",
        "comment": "off",
        "cannot_judge_reasons": "",
        "seed": 7,
        "criterion-1-question": "Is it grammatical?",
        "criterion-1-name": "grammar",
        "criterion-1-kind": "likert",
        "criterion-1-scale_min": 1,
        "criterion-1-scale_max": 6,
        **changes,
    }


def raters_data(**changes: object) -> dict[str, object]:
    return {
        **defaults_of(RATERS),
        "ratings_per_unit": 3,
        "admission": "open",
        "min_units_per_rater": 0,
        "seconds_between_units": 0,
        "break_every_units": 20,
        "lease_seconds": 300,
        "payment_per_unit": "0.10",
        "payment_currency": "eur",
        "payment_fee_percent": "33.3",
        **changes,
    }


def quality_data(**changes: object) -> dict[str, object]:
    return {
        "every": 0,
        "repeat_gap": 5,
        "degraded_count": 0,
        "degradations": ["drop"],
        "anchor_count": 0,
        "pass_mark": 80,
        "attempts": 2,
        **{f"mix_{kind}": 0 for kind in ("gold", "attention", "repeat", "degraded", "anchor")},
        **changes,
    }


def test_outsiders_and_viewers_cannot_change_a_design(
    outsider: User, viewer: User, as_user: AsUser, draft: Campaign
) -> None:
    addresses = [url("step", draft, step) for step in STEPS]
    addresses += [url("screen-new", draft, "gold"), url("screen-lines", draft, "gold")]
    for address in addresses:
        assert as_user(outsider).get(address).status_code == 404
        assert as_user(viewer).get(address).status_code == 403
    assert as_user(outsider).get(url("preview-frame", draft)).status_code == 404
    assert as_user(outsider).post(url("screen-remove", draft, "gold", 1)).status_code == 404


def test_every_step_opens_and_an_unknown_one_is_404(manager: User, as_user: AsUser, draft: Campaign) -> None:
    client = as_user(manager)
    for step in STEPS:
        assert client.get(url("step", draft, step)).status_code == 200
    assert client.get(url("step", draft, "money")).status_code == 404
    assert client.get(url("screen-new", draft, "silver")).status_code == 404
    assert client.get(url("edit", draft)).headers["Location"] == url("step", draft, "what")


def test_a_step_saves_and_redirects_to_the_next_or_the_chosen_step(
    manager: User, as_user: AsUser, draft: Campaign
) -> None:
    client = as_user(manager)
    to_next = client.post(url("step", draft, "screen"), screen_data())
    assert to_next.headers["Location"] == url("step", draft, "words")
    criterion = Criterion.objects.get(campaign=draft)
    assert (criterion.name, criterion.scale_min, criterion.scale_max) == ("grammar", 1, 6)
    to_chosen = client.post(url("step", draft, "raters"), raters_data(then="what"))
    assert to_chosen.headers["Location"] == url("step", draft, "what")
    draft.refresh_from_db()
    assert (draft.payment_currency, draft.break_every_units, str(draft.payment_per_unit)) == ("EUR", 20, "0.1000")
    assert [entry.data["fields"] for entry in draft.audit_entries.filter(verb="campaign.update", actor=manager)] == [
        ["break_every_units", "lease_seconds", "payment_per_unit", "payment_currency", "payment_fee_percent"],
        ["criteria", "seed"],
    ]


def test_what_another_manager_saved_meanwhile_is_not_overwritten_unnoticed(
    manager: User, owner: User, as_user: AsUser, draft: Campaign
) -> None:
    where = url("step", draft, "screen")
    version = as_user(manager).get(where).context["version"]
    assert as_user(owner).post(where, screen_data(seed=8, version=version)).status_code == 302
    refused = as_user(manager).post(where, screen_data(seed=9, version=version))
    assert refused.status_code == 200
    assert "olga-owner saved this draft after you opened the page" in page(refused)
    draft.refresh_from_db()
    assert draft.seed == 8
    again = refused.context["version"]
    assert again > version
    dry_run_create(campaign=draft, specification={}, by=owner)  # is in the log of the campaign, and changes no draft
    assert as_user(manager).post(where, screen_data(seed=9, version=again)).status_code == 302


def test_all_kinds_of_scales_are_designed(manager: User, as_user: AsUser, draft: Campaign) -> None:
    other_criteria = {
        "criterion-2-question": "How good?",
        "criterion-2-name": "good",
        "criterion-2-kind": "slider",
        "criterion-2-scale_min": 0,
        "criterion-2-scale_max": 100,
        "criterion-2-step": 0,
        "criterion-2-labels": "low\nhigh",
        "criterion-3-question": "Beside the standard?",
        "criterion-3-name": "worth",
        "criterion-3-kind": "magnitude",
        "criterion-3-standard_source": "human",
        "criterion-3-standard_value": 100,
        "criterion-4-question": "Which is better?",
        "criterion-4-name": "better",
        "criterion-4-kind": "preference",
        "criterion-4-strength": 3,
        "criterion-4-ties": "on",
        "criterion-5-kind": "likert",
    }
    pairs = ["Ada\x1fCy"]
    data = screen_data(
        presentation="pair", pairs=pairs, cannot_judge_reasons="Not English\n\nNot readable", **other_criteria
    )
    assert as_user(manager).post(url("step", draft, "screen"), data).status_code == 302
    draft.refresh_from_db()
    assert draft.pairs == [["Ada", "Cy"]]
    assert draft.cannot_judge_reasons == ["Not English", "Not readable"]
    rows = draft.criteria.values_list("kind", "scale_min", "scale_max", "step", "ties", "standard_value")
    assert list(rows) == [
        ("likert", 1, 6, 1.0, False, None),
        ("slider", 0, 100, 0.0, False, None),
        ("magnitude", 0, 1, 1.0, False, 100.0),
        ("preference", -3, 3, 1.0, True, None),
    ]
    shown = page(as_user(manager).get(url("step", draft, "screen")))
    assert "Which is better?" in shown
    removed = {**data, "criterion-2-remove": "on"}
    as_user(manager).post(url("step", draft, "screen"), removed)
    assert list(draft.criteria.values_list("name", flat=True)) == ["grammar", "worth", "better"]


def test_a_mistake_is_shown_at_its_field_and_nothing_is_saved(manager: User, as_user: AsUser, draft: Campaign) -> None:
    client = as_user(manager)
    refused = page(client.post(url("step", draft, "screen"), screen_data(**{"criterion-1-labels": "one\ntwo"})))
    assert "found 2 labels for 6 points" in refused
    assert (refused.count("errorlist"), refused.count("Add a criterion")) == (1, 4)  # no criterion is asked for
    half = screen_data(**{"criterion-2-question": "And?", "criterion-2-kind": "slider", "criterion-2-scale_min": ""})
    refused = page(client.post(url("step", draft, "screen"), half))
    assert "this scale needs it" in refused
    refused = page(client.post(url("step", draft, "raters"), raters_data(lease_min_seconds=60)))
    assert "an adaptive lease has both ends" in refused
    what = {"name": "Replies", "dataset": draft.dataset_id, "target": "chosen"}
    assert "---------" not in page(client.get(url("step", draft, "what")))
    assert "choose the systems" in page(client.post(url("step", draft, "what"), what))
    draft.refresh_from_db()
    assert (draft.seed, draft.lease_seconds, draft.audit_entries.count()) == (20150726, 600, 1)


def test_instructions_follow_the_scale_or_say_that_they_do_not(manager: User, as_user: AsUser, draft: Campaign) -> None:
    client, words = as_user(manager), {"rater_language": "en", "consent": ""}
    assert "Add a table of the scale" in page(client.get(url("step", draft, "words")))
    client.post(url("step", draft, "words"), {**words, "instructions": "Read it.", "then": "scale"})
    draft.refresh_from_db()
    assert described_points(draft.instructions) == [Point(str(value), "") for value in (5, 4, 3, 2, 1)]

    saved = page(client.post(url("step", draft, "screen"), screen_data(), follow=True))
    assert "The scale in the instructions now shows the new points" in saved
    assert "The question is new; all other words of the instructions are as before" in saved
    again = page(client.post(url("step", draft, "screen"), screen_data(), follow=True))
    assert "The question is new" not in again
    draft.refresh_from_db()
    assert [point.value for point in described_points(draft.instructions)] == ["6", "5", "4", "3", "2", "1"]

    own = draft.instructions.replace("| **6** |", "| **7** |")
    written = client.post(url("step", draft, "words"), {**words, "instructions": own, "then": "words"}, follow=True)
    assert "describe another scale" in page(written)
    assert "The instructions describe another scale" in page(client.get(url("step", draft, "review")))
    client.post(url("step", draft, "words"), {**words, "instructions": own, "then": "scale"})
    assert "describe another scale" not in page(client.get(url("step", draft, "review")))
    pair = {**words, "instructions": "You see **two possible replies**.", "then": "words"}
    client.post(url("step", draft, "words"), pair)
    reviewed = page(client.get(url("step", draft, "review")))
    assert "The instructions speak of “two possible replies”, but raters see one response at a time." in reviewed
    saved = page(client.post(url("step", draft, "screen"), screen_data(), follow=True))
    assert "still speak of what raters saw before" in saved


def test_the_review_links_to_a_step_that_another_change_made_invalid(
    manager: User, as_user: AsUser, draft: Campaign
) -> None:
    client = as_user(manager)
    client.post(url("step", draft, "screen"), screen_data(presentation="pair"))
    what = {"name": "Replies", "dataset": draft.dataset_id, "target": "references"}
    assert client.post(url("step", draft, "what"), what).status_code == 302
    review = page(client.get(url("step", draft, "review")))
    assert "Pairs compare systems" in review
    assert url("step", draft, "screen") in review
    assert "Launch …" not in review
    page(client.post(url("launch", draft), follow=True))
    draft.refresh_from_db()
    assert draft.state == "draft"


def test_the_review_shows_counts_and_cost(manager: User, as_user: AsUser, draft: Campaign) -> None:
    client = as_user(manager)
    client.post(url("step", draft, "raters"), raters_data())
    client.post(url("step", draft, "quality"), quality_data(every=5, mix_repeat=1))
    review = page(client.get(url("step", draft, "review")))
    # 4 items x 3 systems x 3 raters = 36 slots; one check in 5 items adds 9; 45 items at 0.10, and 33.3%.
    assert "Ready to be launched" in review
    assert ">45<" in review
    assert "6.00 EUR" in review
    assert "There is no consent text" in review
    # What can be improved leads to its field; the page of the step has a part with that id.
    for step, anchor in (("words", "id_consent_field"), ("raters", "id_completion_code_field")):
        assert f'{url("step", draft, step)}#{anchor}"' in review
        assert f'id="{anchor}"' in page(client.get(url("step", draft, step)))


def test_the_step_of_raters_shows_the_work_that_follows_as_it_is_typed(
    manager: User, as_user: AsUser, draft: Campaign
) -> None:
    """By hand: 4 items x 3 systems x 6 raters = 72 answers; a rater of at most 4 takes part with 17 others."""
    client, address = as_user(manager), url("step", draft, "raters")
    assert "Ratings of each response" in page(client.get(address))
    typed = {"ratings_per_unit": "6", "max_units_per_rater": "4"}
    work = " ".join(page(client.get(address, typed, headers={"HX-Request": "true"})).split())
    assert work.startswith('<p id="work-ahead"')
    assert "<strong>72 answers</strong> to 12 responses" in work
    assert "18 raters" in work
    wrong = page(client.get(address, {"ratings_per_unit": "x"}, headers={"HX-Request": "true"}))
    assert f"<strong>{12 * draft.ratings_per_unit} answers</strong>" in wrong
    draft.refresh_from_db()
    assert draft.ratings_per_unit != 6
    Campaign.objects.filter(pk=draft.pk).update(presentation="pair")
    assert "Ratings of each pair" in page(client.get(address))


def test_the_offered_systems_are_those_of_the_chosen_data_set(
    manager: User, as_user: AsUser, project: Project, draft: Campaign
) -> None:
    other_dataset = make_dataset(project, systems=["Zoe"], name="other")
    client, address = as_user(manager), url("step", draft, "what")
    swapped = page(client.get(address, {"dataset": other_dataset.pk}, headers={"HX-Request": "true"}))
    assert ("<html" in swapped, "Zoe" in swapped, "Ada" in swapped) == (False, True, False)
    ada = draft.dataset.systems.get(name="Ada")
    data = {"name": "Replies", "dataset": other_dataset.pk, "target": "chosen", "systems": [ada.pk]}
    refused = page(client.post(address, data))
    assert "Found a system of another data set" in refused
    assert "Zoe" in refused


def test_the_preview_shows_unsaved_changes_and_stores_nothing(manager: User, as_user: AsUser, draft: Campaign) -> None:
    client, address = as_user(manager), url("preview-frame", draft)
    saved = client.get(address)
    assert saved.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in saved.headers["Content-Security-Policy"]
    assert "How relevant is the response?" in page(saved)
    assert "Example 1 of 4" in page(saved)
    changed = page(client.post(address, screen_data(step="screen", presentation="pair", example="3")))
    assert "Is it grammatical?" in changed
    assert "Response B" in changed
    assert "Example 3 of 4" in changed
    ada = draft.dataset.systems.get(name="Ada")
    what = {"name": "x", "dataset": draft.dataset_id, "target": "chosen", "systems": [ada.pk], "step": "what"}
    assert "ada"[::-1] in page(client.post(address, what))
    draft.refresh_from_db()
    assert (draft.presentation, draft.criteria.get().name, draft.systems.count()) == ("single", "relevance", 0)
    assert draft.audit_entries.count() == 1
    assert not Presentation.objects.exists()


def test_the_preview_of_an_invalid_form_is_a_text(manager: User, as_user: AsUser, draft: Campaign) -> None:
    client, address = as_user(manager), url("preview-frame", draft)
    unsettled = client.post(address, screen_data(step="screen", presentation=""))
    assert unsettled.headers["Content-Type"].startswith("text/plain")
    labels = client.post(address, screen_data(step="screen", **{"criterion-1-labels": "one"}))
    assert labels.headers["Content-Type"].startswith("text/plain")
    assert "found 1 labels for 6 points" in page(labels)


def test_prepared_items_are_added_changed_and_removed_one_by_one(
    manager: User, as_user: AsUser, draft: Campaign
) -> None:
    client = as_user(manager)
    gold = {"item": "item-1", "text_0": "Numbers are fun.", "value_0_0": 5, "tolerance_0_0": 1}
    listed = f"{url('step', draft, 'quality')}#prepared-gold"
    assert client.post(url("screen-new", draft, "gold"), gold).headers["Location"] == listed
    draft.refresh_from_db()
    (screen,) = draft.quality["gold"]
    assert screen["texts"] == [{"text": "Numbers are fun.", "expected": {"relevance": [4.0, 5.0]}}]
    opened = client.get(url("screen", draft, "gold", 1))
    assert "Numbers are fun." in page(opened)
    changed = {**gold, "text_0": "Numbers are hard.", "value_0_0": 2, "seen": opened.context["seen"]}
    client.post(url("screen", draft, "gold", 1), changed)
    added = client.post(url("screen-new", draft, "gold"), {**gold, "another": "1"})
    assert added.headers["Location"] == url("screen-new", draft, "gold")
    draft.refresh_from_db()
    assert [gold_item["texts"][0]["text"] for gold_item in draft.quality["gold"]] == [
        "Numbers are hard.",
        "Numbers are fun.",
    ]
    client.post(address_to_remove(client, draft, "gold", 1))
    draft.refresh_from_db()
    assert [gold_item["texts"][0]["text"] for gold_item in draft.quality["gold"]] == ["Numbers are fun."]
    assert client.get(url("screen", draft, "gold", 2)).status_code == 404
    client.post(url("step", draft, "quality"), quality_data(every=10, mix_gold=1))
    draft.refresh_from_db()
    assert (draft.quality["mix"], len(draft.quality["gold"])) == ({"gold": 1}, 1)


def test_the_texts_of_a_prepared_item_are_found_in_the_data_set(
    manager: User, as_user: AsUser, draft: Campaign, project: Project
) -> None:
    client, address = as_user(manager), url("screen-new", draft, "gold")
    assert "Texts found" not in page(client.get(address))
    by_response = page(client.get(address, {"q": "2 is what ADA"}, headers={"HX-Request": "true"}))
    assert ("<html" in by_response, "item-2" in by_response, "item-1" in by_response) == (False, True, False)
    assert "contains “zebra”" in page(client.get(address, {"q": "zebra"}))
    ours = Response.objects.get(item__dataset=draft.dataset, text__startswith="Number 2 is what ob")
    taken = client.get(address, {"response": ours.pk}).context["form"]
    assert (taken["item"].value(), taken["text_0"].value()) == ("item-2", ours.text)
    foreign = Response.objects.filter(item__dataset=make_dataset(project, name="other")).first()
    assert foreign
    assert client.get(address, {"response": foreign.pk}).context["chosen"] is None


def address_to_remove(client: Client, draft: Campaign, kind: str, number: int) -> str:
    """Return the address that the page of a prepared item sends its removal to."""
    address = url("screen-remove", draft, kind, number)
    found = re.search(rf"{address}\?seen=\w+", page(client.get(url("screen", draft, kind, number))))
    assert found
    return found[0]


def golds(draft: Campaign) -> list[str]:
    draft.refresh_from_db()
    return [screen["texts"][0]["text"] for screen in draft.quality["gold"]]


def test_prepared_items_that_another_manager_saved_meanwhile_are_neither_lost_nor_mistaken(
    manager: User, owner: User, as_user: AsUser, draft: Campaign
) -> None:
    mine, theirs = as_user(manager), as_user(owner)

    def gold(text: str, **more: object) -> dict[str, object]:
        return {"text_0": text, "value_0_0": 5, "tolerance_0_0": 0, **more}

    for text in ("One.", "Two.", "Three."):
        mine.post(url("screen-new", draft, "gold"), gold(text))
    second = url("screen", draft, "gold", 2)
    seen = mine.get(second).context["seen"]
    removal = address_to_remove(mine, draft, "gold", 2)
    lines_seen = mine.get(url("screen-lines", draft, "gold")).context["seen"]

    theirs.post(address_to_remove(theirs, draft, "gold", 1))  # the second is now the first
    assert mine.post(second, gold("Two!", seen=seen)).status_code == 302
    assert golds(draft) == ["Two!", "Three."]

    refused = theirs.post(second, gold("Two?", seen=seen))
    assert "max-manager changed or removed this item after you opened it. Yours is not saved yet." in page(refused)
    assert "a new item" in page(refused)
    assert golds(draft) == ["Two!", "Three."]
    assert theirs.post(second, gold("Two?", seen=refused.context["seen"])).status_code == 302
    assert golds(draft) == ["Two!", "Three.", "Two?"]

    kept = mine.post(removal, follow=True)
    assert "olga-owner changed or removed this item after you opened it. Nothing was deleted" in page(kept)
    line = json.dumps({"texts": [{"text": "Four.", "expected": {"relevance": [5, 5]}}]})
    overtaken = mine.post(url("screen-lines", draft, "gold"), {"lines": line, "seen": lines_seen})
    assert "olga-owner changed these items after you opened the page" in page(overtaken)
    assert golds(draft) == ["Two!", "Three.", "Two?"]
    again = {"lines": line, "seen": overtaken.context["seen"]}
    assert mine.post(url("screen-lines", draft, "gold"), again).status_code == 302
    assert golds(draft) == ["Four."]


def test_an_invalid_prepared_item_is_refused_at_its_field(manager: User, as_user: AsUser, draft: Campaign) -> None:
    client = as_user(manager)
    wrong = {"item": "item-99", "text_0": "Hm.", "value_0_0": 9}
    refused = page(client.post(url("screen-new", draft, "gold"), wrong))
    assert "has no item &#x27;item-99&#x27;" in refused
    assert "on the scale of &#x27;relevance&#x27;, 1 to 5" in refused
    assert "No text has an expected value" in page(client.post(url("screen-new", draft, "test"), {"text_0": "Hm."}))
    trained = client.post(url("screen-new", draft, "training"), {"text_0": "Hm.", "feedback": "Too short."})
    assert trained.status_code == 302
    draft.refresh_from_db()
    assert draft.qualification["training"][0]["feedback"] == "Too short."


def test_prepared_items_are_uploaded_as_json_lines_with_errors_by_line(
    manager: User, as_user: AsUser, draft: Campaign
) -> None:
    client, address = as_user(manager), url("screen-lines", draft, "attention")
    valid_line = json.dumps({"texts": [{"text": "Choose 5 here.", "expected": {"relevance": [5, 5]}}]})
    off_scale_line = json.dumps({"texts": [{"text": "Choose 9.", "expected": {"relevance": [9, 9]}}]})
    assert "Line 3" in page(client.post(address, {"lines": f"{valid_line}\n\nnot json"}))
    seen = client.get(address).context["seen"]
    refused = page(client.post(address, {"lines": f"{valid_line}\n\n{off_scale_line}", "seen": seen}))
    assert "Line 3" in refused
    assert "texts.1.expected.relevance" in refused
    file = SimpleUploadedFile("attention.jsonl", f"{valid_line}\n{valid_line}\n".encode())
    assert client.post(address, {"lines": "", "file": file, "seen": seen}).status_code == 302
    draft.refresh_from_db()
    assert len(draft.quality["attention"]) == 2
    downloaded = page(client.get(f"{address}?download"))
    assert [json.loads(line)["texts"][0]["text"] for line in downloaded.splitlines()] == ["Choose 5 here."] * 2
    binary = SimpleUploadedFile("attention.jsonl", b"\xff\xfe")
    assert "not UTF-8" in page(client.post(address, {"lines": "", "file": binary}))


def test_a_launched_design_cannot_be_edited(manager: User, as_user: AsUser, project: Project) -> None:
    campaign = make_campaign(make_dataset(project))
    client = as_user(manager)
    for address in (url("step", campaign, "what"), url("screen-new", campaign, "gold")):
        assert client.get(address).headers["Location"] == url("design", campaign)
    assert "frozen at launch" in page(client.post(url("screen-remove", campaign, "gold", 1), follow=True))
    shown = page(client.get(url("design", campaign)))
    assert "None: raters are not asked for consent." in shown
    assert ">20150726<" in shown  # the seed without separators, to be copied


def test_one_tick_registers_the_usual_rules_before_launch(draft: Campaign, manager: User, as_user: AsUser) -> None:
    client, address = as_user(manager), url("step", draft, "quality")
    client.post(address, quality_data(usual_rules="on"))
    client.post(address, quality_data(usual_rules="on"))  # again: nothing new
    (version,) = draft.rule_versions.all()
    assert version.before_launch
    assert [(rule["rule"], rule["action"]) for rule in version.rules] == [
        ("median_seconds_below", "flag"),
        ("agreement_below", "flag"),
    ]
    assert version.rules[0]["seconds"] == 2
    assert client.get(address).context["form"]["usual_rules"].value() is True
    Response.objects.filter(item__dataset=draft.dataset).update(text="word " * 300)  # at 20 characters a second: 75 s
    assert "less than 16 s for an item" in page(client.get(address))
    assert client.get(address).context["form"]["usual_rules"].value() is True
    client.post(address, quality_data())
    assert draft.rule_versions.get(version=2).rules == []
    rules_register(
        campaign=draft, records=[{"rule": "min_seconds_per_rating", "version": 1, "seconds": 1.0}], by=manager
    )
    client.post(address, quality_data(usual_rules="on"))  # rules of one's own stay
    assert draft.rule_versions.count() == 3
    assert "The rules that you registered" in page(client.get(address))


def test_each_presentation_says_how_many_answers_it_takes(draft: Campaign, manager: User, as_user: AsUser) -> None:
    """Four items with different outputs of three systems, three raters: 12 texts, 12 pairs, 4 lists."""
    Campaign.objects.filter(pk=draft.pk).update(target="outputs")
    text = page(as_user(manager).get(url("step", draft, "screen")))
    for size in (
        "12 responses × 3 raters = 36 answers",
        "12 pairs of responses × 3 raters = 36 answers, in which 72 texts are judged.",
        "4 lists of responses × 3 raters = 12 answers, in which 36 texts are judged.",
    ):
        assert size in text
    first, second = Response.objects.filter(item__position=0, sources__system__isnull=False)[:2]
    second.sources.update(response=first)
    text = page(as_user(manager).get(url("step", draft, "screen")))
    assert "Of 12 pairs 2 need none" in text  # two systems gave one text: their pair, and one of the other two
