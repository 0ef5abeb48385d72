from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.models import AuditEntry, Campaign, Participation, Presentation, Rating, Slot
from annotation.rating.services.ratings import ratings_submit
from tests.annotation.worlds.campaigns import join, rate_next
from tests.api.conftest import World

Api = Callable[..., APIClient]
CAMPAIGNS = "/api/v1/projects/lab/campaigns/"
STRIKES_ALL = {"rule": "median_seconds_below", "version": 1, "action": "exclude", "seconds": 3600, "after": 1}


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Four items, one output of each of three systems: twelve units."""
    return Campaign.objects.get(pk=world.names["campaign_pk"])


@pytest.fixture
def where(campaign: Campaign) -> str:
    return f"{CAMPAIGNS}{campaign.pk}/"


@pytest.fixture
def manager(world: World, api: Api) -> APIClient:
    return api(world.people["manager"])


def post_json(client: APIClient, address: str, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post(address, body, format="json")
    return answer.status_code, answer.json()


def test_ratings_of_each_unit_are_raised_and_never_lowered(campaign: Campaign, where: str, manager: APIClient) -> None:
    before = campaign.slots.count()
    k = campaign.ratings_per_unit
    code, amendment = post_json(manager, f"{where}amendments/extend/", ratings_per_unit=k + 2)
    assert (code, amendment["kind"], amendment["by"]) == (201, "extend", "max")
    assert amendment["data"] == {"ratings_per_unit": [k, k + 2], "places": 24}  # twelve units, two each
    assert campaign.slots.count() == before + 24
    assert manager.get(f"{where}amendments/{amendment['number']}/").json() == amendment
    code, refused = post_json(manager, f"{where}amendments/extend/", ratings_per_unit=k)
    assert (code, list(refused["fields"])) == (400, ["ratings_per_unit"])
    assert str(k + 3) in refused["detail"]


def test_a_system_is_stopped_and_resumed_and_wrong_names_are_refused(
    campaign: Campaign, where: str, manager: APIClient
) -> None:
    code, stopped = post_json(manager, f"{where}amendments/stop-system/", system="Alpha")
    assert (code, stopped["data"]["system"], stopped["data"]["units"]) == (201, "Alpha", 4)  # one an item
    assert campaign.units.filter(stopped=True).count() == 4
    code, refused = post_json(manager, f"{where}amendments/stop-system/", system="Delta")
    assert (code, refused["fields"]["system"]) == (400, ["Found 'Delta'; accepted: Alpha, Beta, Gamma."])
    code, resumed = post_json(manager, f"{where}amendments/resume-system/", system="Alpha")
    assert (code, resumed["kind"], resumed["number"]) == (201, "resume_system", stopped["number"] + 1)
    assert not campaign.units.filter(stopped=True).exists()


def test_adding_no_items_is_refused_with_a_reason(where: str, manager: APIClient) -> None:
    code, refused = post_json(manager, f"{where}amendments/add-items/")
    assert (code, "nothing to add" in refused["detail"]) == (400, True)
    code, refused = post_json(manager, f"{where}amendments/add-items/", item_limit=9)
    assert (code, list(refused["fields"])) == (400, ["item_limit"])


def test_imported_judgements_and_drafts_cannot_be_changed(world: World, manager: APIClient) -> None:
    imported = f"{CAMPAIGNS}{world.names['imported_campaign_pk']}/"
    code, refused = post_json(manager, f"{imported}amendments/extend/", ratings_per_unit=9)
    assert (code, "were imported" in refused["detail"]) == (400, True)
    draft = {"dataset": "chats", "name": "Draft", "criteria": [{"name": "quality", "question": "How good?"}]}
    draft_url = manager.post(CAMPAIGNS, draft, format="json")["Location"]
    code, refused = post_json(manager, f"{draft_url}amendments/extend/", ratings_per_unit=9)
    assert (code, "draft" in refused["detail"]) == (400, True)


def test_a_rater_is_excluded_once_replaced_and_restored(campaign: Campaign, where: str, manager: APIClient) -> None:
    n_ratings = Rating.objects.filter(campaign=campaign).count()
    exclusion = {"rater": "ann", "action": "exclude", "reason": "Always the same point.", "replace": True}
    code, done = post_json(manager, f"{where}decisions/", **exclusion)
    assert (code, done["reopened"], done["decision"]["by"]) == (201, 1, "max")
    assert (done["decision"]["rater"], done["decision"]["reason"]) == ("ann", "Always the same point.")
    assert post_json(manager, f"{where}decisions/", **exclusion) == (
        200,
        {"decision": None, "released": 0, "reopened": 0},
    )
    inclusion = {"rater": "ann", "action": "include", "reason": "It was right after all."}
    assert post_json(manager, f"{where}decisions/", **inclusion)[0] == 201
    listed = manager.get(f"{where}decisions/", {"rater": "ann"}).json()["results"]
    assert [row["action"] for row in listed] == ["include", "exclude", "flag"]
    assert Rating.objects.filter(campaign=campaign).count() == n_ratings
    assert not Participation.objects.filter(campaign=campaign, excluded_at__isnull=False).exists()


def test_slots_of_all_excluded_raters_can_be_reopened_together(where: str, manager: APIClient) -> None:
    for rater in ("ann", "bob"):
        post_json(manager, f"{where}decisions/", rater=rater, action="exclude", reason="Spam.")
    assert post_json(manager, f"{where}decisions/replace-excluded/") == (200, {"reopened": 2})
    assert post_json(manager, f"{where}decisions/replace-excluded/") == (200, {"reopened": 0})


def test_unjudged_slots_are_reopened(world: World, api: Api, manager: APIClient) -> None:
    draft = {
        "dataset": "chats",
        "name": "Hard",
        "cannot_judge_reasons": ["Not English"],
        "ratings_per_unit": 1,
        "criteria": [{"name": "quality", "question": "How good?"}],
    }
    draft_url = manager.post(CAMPAIGNS, draft, format="json")["Location"]
    campaign = Campaign.objects.get(pk=manager.post(f"{draft_url}launch/").json()["id"])
    shown = rate_next(campaign, join(campaign, "cleo"))
    rater = Presentation.objects.get(pk=shown.pk).rater
    ratings_submit(token=shown.token, rater=rater, values={}, cannot_judge={0: "Not English"})
    (row,) = [row for row in manager.get(f"{draft_url}ratings/").json()["results"] if row["value"] is None]
    assert row["cannot_judge"] == "Not English"
    assert post_json(manager, f"{draft_url}decisions/reopen-unjudged/") == (200, {"reopened": 1})
    assert Slot.objects.filter(campaign=campaign, state="returned").count() == 1
    code, refused = post_json(manager, f"{draft_url}decisions/reopen-unjudged/", per_unit=0)
    assert (code, list(refused["fields"])) == (400, ["per_unit"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rater": "nobody", "action": "flag", "reason": "?"}, "rater"),
        ({"rater": "ann", "action": "ban", "reason": "?"}, "action"),
        ({"rater": "ann", "action": "exclude", "reason": "x" * 301}, "reason"),
        ({"rater": "ann", "action": "exclude"}, "reason"),
        ({"rater": "ann", "action": "flag", "reason": "?", "replace": True}, "replace"),
        ({"rater": "ann", "action": "flag", "why": "?", "reason": "?"}, "why"),
    ],
)
def test_a_wrong_decision_is_refused_by_field(where: str, manager: APIClient, body: dict, field: str) -> None:
    code, refused = post_json(manager, f"{where}decisions/", **body)
    assert (code, list(refused["fields"])) == (400, [field])


def test_rules_are_registered_previewed_and_applied_as_of_the_preview(
    campaign: Campaign, where: str, manager: APIClient
) -> None:
    code, rules = post_json(manager, f"{where}rules/", rules=[STRIKES_ALL])
    assert (code, rules["version"], rules["before_launch"], rules["by"]) == (201, 3, False, "max")
    assert post_json(manager, f"{where}rules/", rules=[STRIKES_ALL])[1] == rules  # the same is no new version
    preview = manager.get(f"{where}rules/3/preview/").json()
    assert [(row["rater"], row["action"], row["rule"]) for row in preview["verdicts"]] == [
        ("ann", "exclude", 1),
        ("bob", "exclude", 1),
    ]
    assert (preview["ratings"], preview["ratings_leaving"], preview["places"]) == (2, 2, 2)
    assert preview["verdicts"][0]["evidence"]["threshold"] == 3600
    done = post_json(manager, f"{where}rules/3/apply/", replace=True, as_of=preview["as_of"])
    assert done == (200, {"excluded": 2, "flagged": 0, "reopened": 2, "unchanged": 0})
    # A decision was made after the preview, so the preview is outdated.
    code, refused = post_json(manager, f"{where}rules/3/apply/", as_of=preview["as_of"])
    assert (code, "preview again" in refused["detail"]) == (400, True)
    decided = manager.get(f"{where}decisions/").json()["results"][0]
    assert (decided["rules"], decided["evidence"]["rule"]) == (3, rules["rules"][0])
    assert AuditEntry.objects.filter(campaign=campaign, verb="rules.apply").count() == 1


def test_wrong_rules_are_refused_with_their_number(where: str, manager: APIClient) -> None:
    code, refused = post_json(manager, f"{where}rules/", rules=[STRIKES_ALL | {"seconds": -1}])
    assert (code, list(refused["fields"])) == (400, ["rules"])
    assert "rule 1 of 1" in refused["detail"]
