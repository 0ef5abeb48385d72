import json
import re
from dataclasses import replace

import pytest
from django.urls import reverse

from annotation.campaigns.services.rules import rules_register
from annotation.models import AuditEntry, DecisionAction, Participation, QualityRules, RaterDecision, RaterIdentity
from annotation.quality.selectors.raters import Verdict, moment
from annotation.quality.selectors.suspects import usual_seconds
from annotation.quality.services.decisions import rater_exclude
from annotation.rating.services.handout import unit_request
from annotation.weighting.exclusion.rule import Evidence
from tests.annotation.worlds.campaigns import answer, join, make_campaign, make_dataset
from tests.annotation.worlds.designed import QUALITY, make_designed
from tests.annotation.worlds.rated import make_campaign as make_imported
from tests.annotation.worlds.rated import make_dataset as make_rated_dataset
from tests.annotation.worlds.rated import make_item, make_response, present, rate, rate_in
from tests.snapshots import recalled

GOLD = {"rule": "gold_accuracy_below", "version": 1, "action": "exclude", "accuracy": 0.6, "after": 1}


@pytest.fixture
def campaign(project):
    return recalled("checks mixed in", project, lambda: _campaign(project))


def _campaign(project):
    """A campaign with checks: ann answers 4, which every gold accepts; bob answers 1."""
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


def test_raters_are_listed_with_measures_and_can_be_sorted_and_downloaded(campaign, viewer, as_user):
    client, address = as_user(viewer), page(campaign, "campaign-raters")
    text = client.get(address).content.decode().partition("<tbody>")[2]
    assert "Gold" in text
    assert text.index(rater_of(campaign, "ann").pseudonym) < text.index(rater_of(campaign, "bob").pseudonym)
    whole = client.get(f"{address}?sort=gold").content.decode()
    text = whole.partition("<tbody>")[2]
    assert text.index(rater_of(campaign, "bob").pseudonym) < text.index(rater_of(campaign, "ann").pseudonym)
    assert 'aria-sort="ascending"' in whole
    rows = json.loads(b"".join(client.get(f"{address}?format=json").streaming_content))
    gold = {row["rater"]: row["gold"] for row in rows}
    assert gold[rater_of(campaign, "ann").pseudonym] == 1.0
    assert gold[rater_of(campaign, "bob").pseudonym] == 0.0
    assert client.get(f"{address}?state=excluded").status_code == 200
    specification = client.get(page(campaign, "campaign-raters-chart", "json")).json()
    assert "datasets" in specification
    before = moment(campaign)
    rater_exclude(campaign=campaign, rater=rater_of(campaign, "bob"), reason="Clicks.")
    chart = page(campaign, "campaign-raters-chart", "json")
    for at in ("1-1", "x-1-1", f"{'9' * 30}-1-1"):
        assert client.get(f"{chart}?at={at}").json() == client.get(chart).json(), at
    assert client.get(f"{chart}?at={before.version}").status_code == 200
    assert client.get(page(campaign, "campaign-raters-chart", "svg")).content.startswith(b"<svg")


def test_a_raters_page_shows_every_answer_with_its_checks_marked(campaign, viewer, as_user):
    text = as_user(viewer).get(page(campaign, "campaign-rater", rater_of(campaign, "bob").pk)).content.decode()
    assert "Known answer" in text
    assert "expected 4 to 5" in text
    assert "Repeat of an earlier unit" in text
    assert "first 1" in text
    assert "Decide" not in text  # a viewer decides nothing


def test_each_number_of_raters_says_whom_it_counts(campaign, viewer, as_user):
    """Ann counts, Bob is excluded, Cy has only started."""
    join(campaign, "cy")
    rater_exclude(campaign=campaign, rater=rater_of(campaign, "bob"), reason="Clicks.")

    def words(name: str, *args: object) -> str:
        text = as_user(viewer).get(reverse(f"annotation:{name}", args=["chit-chat", *args])).content.decode()
        return " ".join(re.sub(r"<[^>]+>", " ", text).split())

    assert "1 whose ratings count, of 3 who joined; " in words("campaign-monitor-fragment", campaign.pk)
    assert "Excluded raters 1 " in words("campaign-monitor-fragment", campaign.pk)
    assert " 3 raters joined, 2 of them have rated, 1 excluded." in words("campaign-quality", campaign.pk)
    assert " 2 1 of them excluded " in words("campaign-list")


def test_a_rater_is_excluded_with_a_reason_and_restored(campaign, manager, as_user):
    client, bob = as_user(manager), rater_of(campaign, "bob")
    refused = client.post(page(campaign, "campaign-rater-decide", bob.pk, "exclude"), {"reason": ""})
    assert refused.status_code == 400
    client.post(page(campaign, "campaign-rater-decide", bob.pk, "exclude"), {"reason": "Clicks.", "replace": "on"})
    decision = RaterDecision.objects.get(rater=bob)
    assert (decision.action, decision.reason, decision.decided_by) == ("exclude", "Clicks.", manager)
    assert decision.reopened_slots > 0
    n = decision.reopened_slots
    (message,) = [each.message for each in client.get(page(campaign, "campaign-rater", bob.pk)).context["messages"]]
    slots, filled = ("1 slot is", "it is filled") if n == 1 else (f"{n} slots are", "they are filled")
    assert message.endswith(f" {slots} open for other raters: the campaign collects ratings until {filled}.")
    monitor = " ".join(client.get(page(campaign, "campaign-monitor-fragment")).content.decode().split())
    assert "opened again, because the rater who had filled" in monitor
    text = client.get(page(campaign, "campaign-rater", bob.pk)).content.decode()
    assert "Restore" in text
    assert "Clicks." in text
    assert "Reopen 1" not in text  # nothing is left to reopen
    assert "not counted since the rater is excluded" in text
    assert " counted rating" not in text
    lines = b"".join(client.get(page(campaign, "campaign-ratings") + "?format=jsonl").streaming_content).splitlines()
    marked = {(row["rater"], row["rater_excluded"]) for row in map(json.loads, lines)}
    assert marked == {(bob.pseudonym, True), (rater_of(campaign, "ann").pseudonym, False)}
    client.post(page(campaign, "campaign-rater-decide", bob.pk, "include"), {"reason": "A mistake of ours."})
    assert Participation.objects.get(campaign=campaign, rater=bob).excluded_at is None
    assert client.post(page(campaign, "campaign-rater-decide", bob.pk, "praise"), {"reason": "x"}).status_code == 404


def test_rules_are_written_row_by_row_without_json(campaign, manager, as_user):
    client, address = as_user(manager), page(campaign, "campaign-quality-rules")
    assert client.get(address).status_code == 200
    added = client.post(address, {"do": "add", "add": "gold_accuracy_below"}).content.decode()
    assert 'name="r0-accuracy"' in added
    assert '<input type="hidden" name="rule-0" value="gold_accuracy_below">' in added
    timed = client.post(address, {"do": "add", "add": "median_seconds_below"})
    seconds, source = usual_seconds(campaign)
    assert timed.context["form"].rows[0]["seconds"].value() == seconds
    assert f"Usual here: {source}" in timed.content.decode()
    row = {"rule-0": "gold_accuracy_below", "r0-action": "exclude", "r0-accuracy": "0.6", "r0-after": "1"}
    second = {"rule-1": "median_seconds_below", "r1-action": "flag", "r1-seconds": "-2", "r1-after": "10"}
    refused = client.post(address, {**row, **second, "do": "register"})
    assert refused.status_code == 400
    assert b"a number of seconds above 0" in refused.content
    fewer = client.post(address, {**row, **second, "r1-remove": "on", "do": "update"}).content.decode()
    assert 'name="r0-accuracy"' in fewer
    assert 'name="r1-seconds"' not in fewer
    preview = client.post(address, {**row, "do": "preview"}).content.decode()
    assert "Effects if applied now" in preview
    assert rater_of(campaign, "bob").pseudonym in preview
    assert not QualityRules.objects.exists()
    client.post(address, {**row, "do": "register"})
    rules = QualityRules.objects.get()
    assert (rules.version, rules.rules, rules.before_launch, rules.created_by) == (1, [GOLD], False, manager)


def test_rules_that_another_manager_registered_meanwhile_are_not_replaced_unnoticed(campaign, manager, owner, as_user):
    client, address = as_user(manager), page(campaign, "campaign-quality-rules")
    row = {"rule-0": "gold_accuracy_below", "r0-action": "exclude", "r0-accuracy": "0.6", "r0-after": "1"}
    opened = client.get(address).context["version"]
    theirs = as_user(owner).get(address).context["version"]
    as_user(owner).post(address, {**row, "r0-accuracy": "0.5", "do": "register", "version": theirs})
    shown_again = client.post(address, {**row, "do": "preview", "version": opened})
    refused = client.post(address, {**row, "do": "register", "version": shown_again.context["version"]})
    assert refused.status_code == 409
    assert b"olga-owner registered version 1 after you opened the page" in refused.content
    assert QualityRules.objects.count() == 1
    client.post(address, {**row, "do": "register", "version": refused.context["version"]})
    assert QualityRules.objects.get(version=2).rules == [GOLD]


def test_rules_given_as_json_fill_the_rows_and_errors_are_named(campaign, manager, as_user):
    client, address = as_user(manager), page(campaign, "campaign-quality-rules")
    text = client.post(address, {"do": "json", "rules": json.dumps([GOLD])}).content.decode()
    assert 'name="r0-accuracy"' in text
    wrong = client.post(address, {"do": "json", "rules": json.dumps([GOLD | {"accuracy": 7}])})
    assert wrong.status_code == 400
    assert b"a share, above 0 and at most 1" in wrong.content
    assert client.post(address, {"do": "json", "rules": '{"rule": 1}'}).status_code == 400
    for attack, refusal in {
        "9" * 5000: b"Found a whole number that is too large",
        "[" * 100_000: b"nested too deeply",
        '"\\ud800"': b"half a surrogate pair",
        "[": b"Enter a valid JSON.",
    }.items():
        refused = client.post(address, {"do": "json", "rules": attack})
        assert (refused.status_code, refusal in refused.content) == (400, True), attack[:9]


def test_a_registered_version_is_previewed_applied_and_replayed(campaign, manager, as_user):
    client = as_user(manager)
    row = {"rule-0": "gold_accuracy_below", "r0-action": "exclude", "r0-accuracy": "0.6", "r0-after": "1"}
    client.post(page(campaign, "campaign-quality-rules"), {**row, "do": "register"})
    address = page(campaign, "campaign-quality-apply", 1)
    shown = client.get(address)
    assert not RaterDecision.objects.exists()
    assert shown.context["preview"].n_slots > 0
    assert [verdict.rater for verdict in shown.context["preview"].excluded] == [rater_of(campaign, "bob")]
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
    assert "Applied last" in text
    assert "no effect until they are applied" not in text
    assert client.get(page(campaign, "campaign-quality") + "?format=json").json()["rules"] == [GOLD]


def test_raters_of_an_imported_campaign_are_read_only_and_named_to_managers(project, manager, viewer, as_user):
    from tests.annotation.worlds.rated import make_dataset as make_rated
    from tests.annotation.worlds.rated import make_item, make_response

    dataset = make_rated(project)
    campaign = make_imported(dataset, imported=True)
    (rating,) = rate(campaign, "zoe", make_response(make_item(dataset, "i"), "Text", "A"), 4)
    RaterIdentity.objects.create(rater=rating.rater, project=project, provider="import", external_id="rater_zoe_b")
    client, raters = as_user(manager), page(campaign, "campaign-raters")
    assert b"rater_zoe_b" in client.get(raters).content
    assert b"rater_zoe_b" not in as_user(viewer).get(raters).content
    monitor = client.get(page(campaign, "campaign-monitor-fragment")).content.decode()
    assert "Start a study" not in monitor, "the way on is above"
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
    other_campaign = make_campaign(campaign.dataset, name="Another")
    assert as_user(viewer).get(page(other_campaign, "campaign-rater", rater.pk)).status_code == 404


def test_raters_who_stand_out_are_marked_until_there_are_rules(project, manager, viewer, as_user):
    """Twelve responses: three raters agree at 8 s an item; one answers the reverse at 0.17 s."""
    campaign = make_imported(make_rated_dataset(project))
    for number in range(12):
        response = make_response(make_item(campaign.dataset, f"i{number}"), f"Answer {number}", "A")
        for name in ("ann", "bob", "cem"):
            rate_in(present(campaign, name, response, seconds=8.0), response, 1 + number % 5)
        rate_in(present(campaign, "dot", response, seconds=0.17), response, 5 - number % 5)
    raters = page(campaign, "campaign-raters")
    text = as_user(manager).get(raters).content.decode()
    assert text.count("stands out</span>") == 1
    before = moment(campaign).version
    assert f"raters.json?at={before}" in text
    chart = page(campaign, "campaign-raters-chart", "json")
    shown = as_user(viewer).get(f"{chart}?at={before}").json()
    response = make_response(make_item(campaign.dataset, "more"), "Another", "A")
    rate_in(present(campaign, "ann", response, seconds=900), response, 1)
    assert as_user(viewer).get(f"{chart}?at={before}").json() == shown, "the moment of the table"
    assert as_user(viewer).get(chart).json() != shown
    suspected = as_user(manager).get(raters).context["suspects"]
    assert [(name, reason) for _, name, reason in suspected.rows] == [
        ("dot", "median seconds 0.17, below 1.79; correlation with the others' mean -1.00, below 0.2")
    ]
    assert "dot</a>" in as_user(viewer).get(page(campaign, "campaign-monitor-fragment")).content.decode()
    assert "1 rater stands out" in as_user(viewer).get(page(campaign, "campaign-results")).content.decode()
    results = as_user(manager).get(page(campaign, "campaign-results")).content.decode()
    assert "Krippendorff" in results.partition("What this rests on")[2]
    rules = f"{page(campaign, 'campaign-quality-rules')}?suggested=1"
    for shown in (results, text, as_user(manager).get(page(campaign, "campaign-monitor-fragment")).content.decode()):
        assert rules in shown  # one click leads to the rules that would exclude, and their effects
    offered = as_user(manager).get(rules).context
    assert [row.rule for row in offered["form"].rows] == ["median_seconds_below", "agreement_below"]
    assert {verdict.rater.pseudonym for verdict in offered["preview"].excluded} == {"dot"}
    row = {"rule-0": "agreement_below", "r0-action": "flag", "r0-correlation": "0.2", "r0-after": "10", "do": "preview"}
    preview = as_user(manager).post(page(campaign, "campaign-quality-rules"), row).content.decode()
    assert "Exclude the clearest" in " ".join(preview.split())  # a flagged rater stays among the others
    rules_register(campaign=campaign, records=suspected.excluding, by=manager)
    text = as_user(manager).get(raters).content.decode()
    assert "stands out" not in text
    assert "1 rater falls under the rules" in text
    assert page(campaign, "campaign-quality-apply", 1) in text
    ((dot, _, _),) = as_user(manager).get(raters).context["suspects"].rows
    RaterDecision.objects.create(campaign=campaign, rater_id=dot, action=DecisionAction.FLAG, reason="Seen.")
    assert "falls under the rules" not in as_user(manager).get(raters).content.decode()


def test_a_rater_is_not_clear_if_the_interval_reaches_the_threshold():
    unclear = Evidence("measure", 20, 0.17, -0.11, 0.45, 0.2)
    assert Verdict(None, "flag", 1, "", unclear).is_unclear
    assert not Verdict(None, "flag", 1, "", replace(unclear, high=0.19)).is_unclear
    assert not Verdict(None, "flag", 1, "", replace(unclear, pvalue=0.3)).is_unclear


def test_the_overview_says_that_nothing_is_left_and_the_ratings_keep_the_campaigns_tabs(campaign, manager, as_user):
    text = " ".join(as_user(manager).get(page(campaign, "campaign-detail")).content.decode().split())
    assert "Every slot is filled: who opens the link reads that there is nothing more to rate." in text
    ratings = as_user(manager).get(page(campaign, "campaign-ratings")).content.decode()
    assert page(campaign, "campaign-results") in ratings
    bob = rater_of(campaign, "bob")
    bob.presentations.update(outcome="replaced")
    shown = as_user(manager).get(page(campaign, "campaign-rater", bob.pk)).content.decode()
    assert "slot reopened" in shown
    assert "opened again later" not in shown
