import json
import math

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, ReferenceSet
from annotation.quality.selectors.monitoring.live import campaign_statistics
from annotation.quality.selectors.raters import moment
from tests.annotation.worlds.campaigns import join
from tests.annotation.worlds.campaigns import make_campaign as make_pairs
from tests.annotation.worlds.campaigns import make_dataset as make_pair_dataset
from tests.annotation.worlds.campaigns import rate_next as answer_next
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate


@pytest.fixture
def campaign(project):
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    for number, values in enumerate(((5, 4), (2, 1))):
        response = make_response(make_item(dataset, f"i{number}"), f"Answer {number}", "A")
        for rater, value in zip(("ann", "bob"), values, strict=True):
            rate(campaign, rater, response, value)
    return campaign


def page(campaign, name, *args):
    return reverse(f"annotation:{name}", args=["chit-chat", campaign.pk, *args])


HTMX = {"HX-Request": "true"}


def test_the_monitor_is_a_page_and_fragments_for_polling(campaign, viewer, as_user):
    address, client = page(campaign, "campaign-monitor-fragment"), as_user(viewer)
    assert b"<html" in client.get(address).content
    fragments = client.get(address, headers=HTMX).content.decode()
    assert "<html" not in fragments
    assert 'id="campaign-live"' in fragments
    assert 'id="campaign-figures"' in fragments
    live = client.get(f"{address}?part=live", headers=HTMX).content.decode()
    assert 'id="campaign-live"' in live
    assert 'id="campaign-figures"' not in live


def test_polling_gets_204_until_something_changes(campaign, viewer, as_user):
    client, address = as_user(viewer), page(campaign, "campaign-monitor-fragment")
    for part, version in (("live", "version"), ("figures", "figures_version")):
        known_version = getattr(client.get(f"{address}?part={part}", headers=HTMX).context["monitor"], version)
        assert client.get(f"{address}?part={part}&seen={known_version}", headers=HTMX).status_code == 204
    rate(campaign, "cem", campaign.units.first().item.responses.get(), 3)
    assert client.get(f"{address}?part=figures&seen={known_version}", headers=HTMX).status_code == 200


def test_a_closed_or_imported_campaign_does_not_poll(campaign, viewer, as_user):
    imported = make_campaign(campaign.dataset, "Elsewhere", imported=True)
    text = as_user(viewer).get(page(imported, "campaign-monitor-fragment")).content.decode()
    assert 'hx-trigger="every' not in text
    assert "Slots filled" not in text
    assert "no response has ratings of two raters" in text


def test_a_closed_campaign_says_how_sure_its_ratings_are_and_not_how_many_more_to_add(campaign, viewer, as_user):
    response = campaign.dataset.items.first().responses.get()
    for rater, value in (("ann", 3), ("bob", 4)):
        rate(campaign, rater, response, value)
    address = page(campaign, "campaign-monitor-fragment")
    text = as_user(viewer).get(address).content.decode()
    assert "Enough ratings?" in text
    assert "2 active now" in text
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", closed_at=timezone.now())
    text = as_user(viewer).get(address).content.decode()
    assert "The campaign is closed." in text
    for word in ("Enough ratings?", "More ratings", "still need ratings", "copy this one", "active now"):
        assert word not in text, word


def test_statistics_appear_once_one_of_them_is_known(campaign, viewer, as_user):
    launched = make_campaign(campaign.dataset, "New")
    text = as_user(viewer).get(page(launched, "campaign-monitor-fragment")).content.decode()
    assert "No ratings yet" in text
    assert "undefined" not in text
    first, second = (item.responses.get() for item in campaign.dataset.items.order_by("pk"))
    rate(launched, "ann", first, 3)
    text = as_user(viewer).get(page(launched, "campaign-monitor-fragment")).content.decode()
    assert "Agreement: no response has ratings of two raters" in text
    assert "undefined" not in text
    for rater, response, value in (("ann", second, 5), ("bob", first, 2), ("bob", second, 5)):
        rate(launched, rater, response, value)
    text = as_user(viewer).get(page(launched, "campaign-monitor-fragment")).content.decode()
    assert "Krippendorff" in text


def test_charts_and_the_agreement_table_can_be_downloaded(campaign, viewer, as_user):
    client = as_user(viewer)
    for name in ("values", "hours", "responses"):
        specification = client.get(page(campaign, "campaign-chart", name, "json")).json()
        (rows,) = specification["datasets"].values()
        assert len(rows) == {"values": 5, "hours": 1, "responses": 1}[name]
    specification = client.get(page(campaign, "campaign-chart", "drift-screens", "json")).json()
    assert len(max(specification["datasets"].values(), key=len)) == 2  # first and second screen
    assert client.get(page(campaign, "campaign-chart", "values", "svg")).content.startswith(b"<svg")
    assert client.get(page(campaign, "campaign-chart", "moods", "json")).status_code == 404
    answer = client.get(page(campaign, "campaign-agreement-download", "json"))
    (row,) = json.loads(b"".join(answer.streaming_content))
    assert (row["criterion"], row["ratings"], row["mean"]) == ("quality", 4, 3.0)


def test_means_by_position_on_screen_can_be_downloaded(project, viewer, as_user):
    campaign = make_pairs(make_pair_dataset(project, items=1, systems=["Ada", "Bo"]), presentation="pair")
    for name in ("ann", "bob"):
        answer_next(campaign, join(campaign, name), 4)
    answer = as_user(viewer).get(page(campaign, "campaign-places-download", "json"))
    rows = json.loads(b"".join(answer.streaming_content))
    assert [(row["place"], row["ratings"], row["mean"]) for row in rows] == [(1, 2, 4.0), (2, 2, 4.0)]
    assert [row["difference"] for row in rows] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("campaign-monitor-fragment", ()),
        ("campaign-chart", ("values", "json")),
        ("campaign-agreement-download", ("csv",)),
        ("campaign-places-download", ("csv",)),
        ("campaign-drift-download", ("csv",)),
        ("campaign-enough-download", ("parquet",)),
    ],
)
def test_an_outsider_gets_404_and_post_is_rejected(campaign, viewer, outsider, as_user, name, args):
    assert as_user(outsider).get(page(campaign, name, *args)).status_code == 404
    assert as_user(viewer).post(page(campaign, name, *args)).status_code == 405


def test_only_offered_target_half_widths_are_accepted(campaign, viewer, as_user):
    client, address = as_user(viewer), page(campaign, "campaign-monitor-fragment")
    assert "Margins of error of weights" not in client.get(address).content.decode()  # of outputs alone
    dataset = campaign.dataset
    ReferenceSet.objects.create(project=campaign.project, dataset=dataset, name="R", slug="r").campaigns.add(campaign)
    for target, expected in (("0.10", 0.1), ("0.5", 0.5), ("0.75", 0.75), ("0.77", 0.25), ("x", 0.25)):
        answer = client.get(f"{address}?target={target}")
        assert answer.context["target"] == expected
        assert f"?target={expected:.2f}#enough" in answer.content.decode()


@pytest.mark.parametrize("n_items", [4, 12])
def test_drift_is_shown_over_the_items_that_raters_saw_and_not_at_all_over_a_few(project, n_items):
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    for number in range(n_items):
        response = make_response(make_item(dataset, f"i{number}"), f"Answer {number}", "A")
        for rater in ("ann", "bob", "cem"):
            rate(campaign, rater, response, 1 + (number + len(rater) * number) % 5)
    statistics, _ = campaign_statistics(campaign, moment(campaign))
    (criterion,) = statistics.criteria
    assert criterion.drift_items == n_items
    if n_items < 10:
        assert criterion.by_place.reason
        assert math.isnan(criterion.over_items[0])
    else:
        assert criterion.over_items == pytest.approx(
            [n_items * each for each in (criterion.by_place.slope, criterion.by_place.low, criterion.by_place.high)],
            nan_ok=True,
        )
        assert abs(criterion.over_items[0]) <= 4  # points of the scale, which has five
