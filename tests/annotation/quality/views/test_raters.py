import json

import pytest
from django.urls import reverse

from annotation.models import AuditEntry, Participation, QualityRules, RaterDecision
from annotation.rating.services.handout import unit_request
from tests.annotation.worlds.campaigns import answer, join, make_campaign, make_dataset
from tests.annotation.worlds.designed import QUALITY, make_designed
from tests.annotation.worlds.rated import make_campaign as make_imported
from tests.annotation.worlds.rated import rate
from tests.snapshots import recalled

GOLD = {"rule": "gold_accuracy_below", "version": 1, "action": "exclude", "accuracy": 0.6, "after": 1}


@pytest.fixture
def campaign(project):
    return recalled("checks mixed in", project, lambda: _campaign(project))


def _campaign(project):
    """Checks mixed in; ann answers 4 to all, which every gold accepts; bob answers 1."""
    campaign = make_designed(make_dataset(project, items=6), quality=QUALITY)
    for name, value in (("ann", 4), ("bob", 1)):
        rater = join(campaign, name)
        for _ in range(24):
            shown = unit_request(campaign=campaign, rater=rater)
            if shown is None:
                break
            answer(shown, value)
    return campaign


def page(campaign, name, *args):
    return reverse(f"annotation:{name}", args=["chit-chat", campaign.pk, *args])


def rater_of(campaign, name):
    return Participation.objects.select_related("rater").get(campaign=campaign, rater__pseudonym__startswith=name).rater


def test_raters_are_listed_with_measures_sorted_and_to_be_kept(campaign, viewer, as_user):
    client, address = as_user(viewer), page(campaign, "campaign-raters")
    text = client.get(address).content.decode()
    assert "Gold" in text
    assert text.index(rater_of(campaign, "ann").pseudonym) < text.index(rater_of(campaign, "bob").pseudonym)
    text = client.get(f"{address}?sort=gold").content.decode()
    assert text.index(rater_of(campaign, "bob").pseudonym) < text.index(rater_of(campaign, "ann").pseudonym)
    assert 'aria-sort="ascending"' in text
    rows = json.loads(b"".join(client.get(f"{address}?format=json").streaming_content))
    gold = {row["rater"]: row["gold"] for row in rows}
    assert gold[rater_of(campaign, "ann").pseudonym] == 1.0
    assert gold[rater_of(campaign, "bob").pseudonym] == 0.0
    assert client.get(f"{address}?state=excluded").status_code == 200
    specification = client.get(page(campaign, "campaign-raters-chart", "json")).json()
    assert "datasets" in specification
    assert client.get(page(campaign, "campaign-raters-chart", "svg")).content.startswith(b"<svg")


def test_a_raters_page_shows_every_answer_with_its_checks_marked(campaign, viewer, as_user):
    text = as_user(viewer).get(page(campaign, "campaign-rater", rater_of(campaign, "bob").pk)).content.decode()
    assert "Known answer" in text
    assert "expected 4 to 5" in text
    assert "Repeat of an earlier unit" in text
    assert "first 1" in text
    assert "Decide" not in text  # a viewer decides nothing


def test_a_rater_is_excluded_with_a_reason_and_taken_back_in(campaign, manager, as_user):
    client, bob = as_user(manager), rater_of(campaign, "bob")
    refused = client.post(page(campaign, "campaign-rater-decide", bob.pk, "exclude"), {"reason": ""})
    assert refused.status_code == 400
    client.post(page(campaign, "campaign-rater-decide", bob.pk, "exclude"), {"reason": "Clicks.", "replace": "on"})
    decision = RaterDecision.objects.get(rater=bob)
    assert (decision.action, decision.reason, decision.decided_by) == ("exclude", "Clicks.", manager)
    assert decision.reopened_slots > 0
    text = client.get(page(campaign, "campaign-rater", bob.pk)).content.decode()
    assert "Restore" in text
    assert "Clicks." in text
    client.post(page(campaign, "campaign-rater-decide", bob.pk, "include"), {"reason": "A mistake of ours."})
    assert Participation.objects.get(campaign=campaign, rater=bob).excluded_at is None
    assert client.post(page(campaign, "campaign-rater-decide", bob.pk, "praise"), {"reason": "x"}).status_code == 404


def test_rules_are_written_row_by_row_without_json(campaign, manager, as_user):
    client, address = as_user(manager), page(campaign, "campaign-quality-rules")
    assert client.get(address).status_code == 200
    added = client.post(address, {"do": "add", "add": "gold_accuracy_below"}).content.decode()
    assert 'name="r0-accuracy"' in added
    assert '<input type="hidden" name="rule-0" value="gold_accuracy_below">' in added
    row = {"rule-0": "gold_accuracy_below", "r0-action": "exclude", "r0-accuracy": "0.6", "r0-after": "1"}
    second = {"rule-1": "median_seconds_below", "r1-action": "flag", "r1-seconds": "-2", "r1-after": "10"}
    refused = client.post(address, {**row, **second, "do": "register"})
    assert refused.status_code == 400
    assert b"a number of seconds above 0" in refused.content
    fewer = client.post(address, {**row, **second, "r1-remove": "on", "do": "update"}).content.decode()
    assert 'name="r0-accuracy"' in fewer
    assert 'name="r1-seconds"' not in fewer
    seen = client.post(address, {**row, "do": "preview"}).content.decode()
    assert "Effects if applied now" in seen
    assert rater_of(campaign, "bob").pseudonym in seen
    assert not QualityRules.objects.exists()
    client.post(address, {**row, "do": "register"})
    rules = QualityRules.objects.get()
    assert (rules.version, rules.rules, rules.before_launch, rules.created_by) == (1, [GOLD], False, manager)


def test_rules_brought_along_as_json_fill_the_rows_and_mistakes_are_named(campaign, manager, as_user):
    client, address = as_user(manager), page(campaign, "campaign-quality-rules")
    text = client.post(address, {"do": "json", "rules": json.dumps([GOLD])}).content.decode()
    assert 'name="r0-accuracy"' in text
    wrong = client.post(address, {"do": "json", "rules": json.dumps([GOLD | {"accuracy": 7}])})
    assert wrong.status_code == 400
    assert b"a share, above 0 and at most 1" in wrong.content
    assert client.post(address, {"do": "json", "rules": '{"rule": 1}'}).status_code == 400


def test_a_registered_version_is_shown_applied_and_judged_again(campaign, manager, as_user):
    client = as_user(manager)
    row = {"rule-0": "gold_accuracy_below", "r0-action": "exclude", "r0-accuracy": "0.6", "r0-after": "1"}
    client.post(page(campaign, "campaign-quality-rules"), {**row, "do": "register"})
    address = page(campaign, "campaign-quality-apply", 1)
    shown = client.get(address)
    assert not RaterDecision.objects.exists()
    assert shown.context["preview"].n_slots > 0
    assert [one.rater for one in shown.context["preview"].excluded] == [rater_of(campaign, "bob")]
    client.post(address, {"seen": shown.context["preview"].at.version, "replace": "on"})
    decision = RaterDecision.objects.get()
    assert decision.evidence["measure"] == "gold accuracy"
    assert decision.reopened_slots == shown.context["preview"].n_slots
    refused = client.post(address, {"seen": shown.context["preview"].at.version})
    assert refused.status_code == 400
    assert b"newer decisions about raters" in refused.content
    entry = AuditEntry.objects.get(verb="rules.apply")
    text = client.get(page(campaign, "campaign-quality") + f"?replay={entry.pk}").content.decode()
    assert "Same result." in text
    assert client.get(page(campaign, "campaign-quality") + "?format=json").json()["rules"] == [GOLD]


def test_raters_of_an_imported_campaign_are_shown_and_not_decided_about(project, manager, as_user):
    from tests.annotation.worlds.rated import make_dataset as make_rated
    from tests.annotation.worlds.rated import make_item, make_response

    dataset = make_rated(project)
    campaign = make_imported(dataset, imported=True)
    (rating,) = rate(campaign, "zoe", make_response(make_item(dataset, "i"), "Text", "A"), 4)
    client = as_user(manager)
    assert b"zoe" in client.get(page(campaign, "campaign-raters")).content
    text = client.get(page(campaign, "campaign-rater", rating.rater_id)).content.decode()
    assert "Decide" not in text


@pytest.mark.parametrize(
    ("name", "args"),
    [("campaign-raters", ()), ("campaign-raters-chart", ("json",)), ("campaign-quality", ())],
)
def test_an_outsider_gets_404_and_post_is_rejected(campaign, viewer, outsider, as_user, name, args):
    assert as_user(outsider).get(page(campaign, name, *args)).status_code == 404
    assert as_user(viewer).post(page(campaign, name, *args)).status_code == 405


def test_only_managers_write_rules_and_decide(project, viewer, outsider, as_user):
    campaign = make_campaign(make_dataset(project))
    rater = join(campaign, "ann")
    decide = page(campaign, "campaign-rater-decide", rater.pk, "exclude")
    rules = page(campaign, "campaign-quality-rules")
    for address in (decide, rules):
        assert as_user(viewer).post(address, {"reason": "x"}).status_code == 403
        assert as_user(outsider).post(address, {"reason": "x"}).status_code == 404
    assert as_user(outsider).get(page(campaign, "campaign-rater", rater.pk)).status_code == 404
    elsewhere = make_campaign(campaign.dataset, name="Another")
    assert as_user(viewer).get(page(elsewhere, "campaign-rater", rater.pk)).status_code == 404
