"""Comparing, deprecating and downloading releases; changing sets; importing weights."""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Release, WeightsImport
from annotation.references.releases.files.kinds import FILES
from annotation.references.releases.services.imports import (
    ImportOptions,
    release_import,
    weights_import_create,
    weights_import_execute,
)
from annotation.references.releases.services.releases import release_build, release_create, release_deprecate
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate


@pytest.fixture
def dataset(project):
    return make_dataset(project)


@pytest.fixture
def reference_set(project, dataset):
    """i0 .. i3, each with a good answer and a bad one."""
    campaign = make_campaign(dataset)
    for number in range(4):
        item = make_item(dataset, f"i{number}")
        good, bad = make_response(item, f"Good {number}", "human"), make_response(item, f"Bad {number}", "mined")
        for rater, high, low in (("ann", 4, 1), ("bob", 5, 2)):
            rate(campaign, rater, good, high)
            rate(campaign, rater, bad, low)
    return reference_set_create(dataset=dataset, name="Both", campaigns=[campaign], source_kinds=["human", "mined"])


def build(reference_set, **asked) -> Release:
    release = release_create(reference_set=reference_set, parameters={"n_bootstrap": 20}, **asked)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    return release


@pytest.fixture
def releases(reference_set, dataset):
    """v1; then zoe gives every answer to i0 a 1, one answer is new, and bob is left out: v2."""
    first = build(reference_set)
    campaign = reference_set.campaigns.get()
    item = dataset.items.get(external_id="i0")
    for response in item.responses.all():
        rate(campaign, "zoe", response, 1)
    rate(campaign, "ann", make_response(item, "New", "mined"), 3)
    return first, build(reference_set, exclusion_rules=[{"rule": "exclude_raters", "version": 1, "raters": ["bob"]}])


def page(name, *args):
    return reverse(f"annotation:{name}", args=["chit-chat", *args])


READS = [
    ("release-detail", ("both", 2)),
    ("release-compare", ("both", 2)),
    ("release-compare-download", ("both", 2, "all", "csv")),
    ("release-compare-chart", ("both", 2, "moves", "json")),
    ("release-file", ("both", 2, "items.jsonl")),
]
MANAGERS = [
    ("release-deprecate", ("both", 1)),
    ("release-restore", ("both", 1)),
    ("reference-set-edit", ("both",)),
    ("reference-set-add-campaign", ("both",)),
    ("reference-set-import", ()),
]


def test_viewers_read_what_outsiders_do_not_find(releases, viewer, outsider, as_user):
    for name, args in READS:
        assert as_user(viewer).get(page(name, *args)).status_code == 200, name
        assert as_user(outsider).get(page(name, *args)).status_code == 404, name
        assert as_user(viewer).post(page(name, *args)).status_code == 405, name


def test_only_managers_change_sets_and_releases(releases, viewer, outsider, as_user):
    for name, args in MANAGERS:
        assert as_user(viewer).post(page(name, *args)).status_code == 403, name
        assert as_user(outsider).post(page(name, *args)).status_code == 404, name
    for name, args in (MANAGERS[1], MANAGERS[3]):
        assert as_user(viewer).get(page(name, *args)).status_code == 405, name


def test_a_comparison_counts_and_lists_what_changed(releases, viewer, as_user):
    """i0: (4+5)/2 is 4.5, a weight of 0.75; later (4+1)/2 is 2.5, -0.25. Its bad answer: 1.5 then 1: -0.75, -1.

    Of i1 to i3 only ann's 4 and 1 are left: 0.75 to 0.5, and -0.75 to -1.
    """
    found = as_user(viewer).get(page("release-compare", "both", 2)).context
    difference = found["difference"]
    assert found["before"] == releases[0]
    assert difference.counts() == {"moved": 8, "signs": 1, "added": 1, "gone": 0}
    assert (difference.up, difference.down, difference.shared) == (0, 8, 8)
    assert difference.mean_move == pytest.approx((1.0 + 7 * 0.25) / 8)
    assert difference.largest_move == 1.0
    assert [item.external_id for item in found["lost"]] == ["i0"]
    assert found["gained"] == []
    first = found["page"].rows[0]
    assert (first.text, first.before, first.after, first.n_before, first.n_after) == ("Good 0", 0.75, -0.25, 2, 2)
    assert (found["raters"].joined, found["raters"].left, found["raters"].stayed) == (["zoe"], ["bob"], 1)
    differing = {change.what for change in found["changes"] if not change.same}
    assert differing == {"Rules", "Judgements"}


def test_only_a_later_release_has_changed_since(releases, viewer, as_user, reference_set):
    client = as_user(viewer)
    later = client.get(page("release-compare", "both", 2)).content.decode()
    assert "What changed since v1" in later
    earlier = client.get(page("release-compare", "both", 1)).content.decode()
    assert "How v1 differs from the later v2" in earlier
    assert "changed since" not in earlier
    assert 'data-label="v2"' in earlier
    other = reference_set_create(
        dataset=reference_set.dataset,
        name="Other",
        campaigns=list(reference_set.campaigns.all()),
        source_kinds=["human"],
    )
    build(other)
    beside = client.get(page("release-compare", "both", 2), {"with": "other/v1"}).content.decode()
    assert "How it differs from Other v1" in beside


def test_lists_of_sets_say_that_the_newest_release_is_deprecated(releases, manager, as_user):
    client = as_user(manager)
    lists = (page("reference-set-list"), page("project-detail"))
    release_deprecate(release=releases[0], reason="Too few raters.", by=manager)
    for address in lists:
        assert "deprecated" not in client.get(address).content.decode()
    release_deprecate(release=releases[1], reason="A wrong scale.", by=manager)
    for address in lists:
        assert 'title="A wrong scale.">deprecated</span>' in client.get(address).content.decode()


def test_a_comparison_is_turned_around_by_asking_for_the_other(releases, viewer, as_user):
    client = as_user(viewer)
    found = client.get(page("release-compare", "both", 1), {"with": "both/v2"}).context
    assert found["difference"].counts() == {"moved": 8, "signs": 1, "added": 0, "gone": 1}
    assert [item.external_id for item in found["gained"]] == ["i0"]
    gone = client.get(page("release-compare", "both", 1), {"with": "both/v2", "show": "gone"})
    assert [row.text for row in gone.context["page"].rows] == ["New"]
    assert client.get(page("release-compare", "both", 1), {"with": "other/v1"}).status_code == 404
    assert client.get(page("release-compare", "both", 1), {"show": "colours"}).status_code == 404


def test_the_pages_of_a_comparison_hold_every_row_once_forwards_and_backwards(releases, viewer, as_user, monkeypatch):
    monkeypatch.setattr("annotation.references.releases.selectors.differences.PAGE", 3)
    client, address = as_user(viewer), page("release-compare", "both", 2)
    seen, pages = [], []
    query = "?show=moved"
    while query:
        found = client.get(address + query.split("#")[0]).context
        pages.append([row.response_id for row in found["page"].rows])
        seen += found["page"].rows
        last, query = found, found["next_url"]
    assert len({row.response_id for row in seen}) == len(seen) == 8
    assert [row.size for row in seen] == sorted((row.size for row in seen), reverse=True)
    back = client.get(address + last["previous_url"].split("#")[0]).context
    assert [row.response_id for row in back["page"].rows] == pages[-2]
    assert client.get(address, {"show": "moved", "after": "nonsense"}).context["page"].rows[0].text == "Good 0"


def test_a_comparison_can_be_downloaded(releases, viewer, as_user):
    def rows(table):
        answer = as_user(viewer).get(page("release-compare-download", "both", 2, table, "csv"))
        return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))

    everything = rows("all")
    assert everything[0][:6] == ["item", "response_id", "text", "weight_before", "weight_after", "move"]
    assert len(everything) == 1 + 9
    assert len(rows("signs")) == 2
    assert rows("items")[1:] == [["i0", "Message of i0?", "", "lost its last"]]
    assert ["Method", "linear", "linear"] in rows("making")
    assert as_user(viewer).get(page("release-compare-download", "both", 2, "none", "csv")).status_code == 404
    for chart in ("moves", "weights"):
        answer = as_user(viewer).get(page("release-compare-chart", "both", 2, chart, "json"))
        assert "vega-lite" in json.loads(answer.content)["$schema"]


def test_releases_with_the_same_weights_differ_in_nothing_and_the_page_names_the_first(reference_set, viewer, as_user):
    first, _ = build(reference_set), build(reference_set)
    client = as_user(viewer)
    found = client.get(page("release-compare", "both", 2))
    assert found.context["difference"].is_empty
    assert "cite either" in found.content.decode()
    assert client.get(page("release-detail", "both", 2)).context["twin"] == first
    assert client.get(page("release-detail", "both", 1)).context["twin"] is None


def test_the_only_release_of_a_data_set_has_nothing_to_compare_with(reference_set, viewer, as_user):
    build(reference_set)
    assert "Nothing to compare with" in as_user(viewer).get(page("release-compare", "both", 1)).content.decode()


def test_a_deprecation_is_told_wherever_the_release_is_chosen_and_can_be_taken_back(releases, manager, as_user):
    client = as_user(manager)
    asked = client.post(page("release-deprecate", "both", 2), {"reason": ""})
    assert asked.status_code == 400
    done = client.post(page("release-deprecate", "both", 2), {"reason": "Use v1 <instead>."})
    assert done.url == page("release-detail", "both", 2)
    told = client.get(done.url).content.decode()
    assert "Use v1 &lt;instead&gt;." in told
    assert "deprecated" in client.get(page("reference-set-detail", "both")).content.decode()
    choice = client.get(reverse("metrics:run-create", args=["chit-chat"]), {"metric": "bleu"}).content.decode()
    assert "Both v2 · Replies (deprecated)" in choice
    assert choice.index("Both v1 · Replies") < choice.index("Both v2 · Replies")
    second = client.post(page("release-deprecate", "both", 2), {"reason": "Again."})
    assert "deprecated already" in second.content.decode()
    client.post(page("release-restore", "both", 2))
    assert "Use v1" not in client.get(done.url).content.decode()


def test_every_file_is_offered_and_carries_the_hash_and_a_tag_that_saves_sending_it_again(releases, viewer, as_user):
    client, release = as_user(viewer), releases[1]
    offered = client.get(page("release-detail", "both", 2)).content.decode()
    for name, file in FILES.items():
        address = page("release-file", "both", 2, name)
        assert address in offered
        assert file.purpose.split(",")[0] in offered
        answer = client.get(address)
        assert answer["Assay-Content-Hash"] == release.content_hash
        assert release.content_hash[:12] in answer["Content-Disposition"]
        assert b"".join(answer.streaming_content)
        again = client.get(address, headers={"If-None-Match": f'"other", {answer["ETag"]}'})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", answer["ETag"])
    assert client.get(page("release-file", "both", 2, "weights.exe")).status_code == 404


def test_a_file_that_says_more_is_sent_again(releases, viewer, manager, as_user):
    client, address = as_user(viewer), page("release-file", "both", 2, "card.md")
    tag = client.get(address)["ETag"]
    release_deprecate(release=releases[1], reason="Wrong.", by=manager)
    answer = client.get(address, headers={"If-None-Match": tag})
    assert answer.status_code == 200
    assert "Deprecated" in b"".join(answer.streaming_content).decode()


def test_a_set_is_renamed_and_gains_a_campaign_and_refusals_stand_at_their_fields(
    reference_set, dataset, manager, as_user
):
    client = as_user(manager)
    later = make_campaign(dataset, "Later")
    wider = make_campaign(dataset, "Wider", {"quality": (0, 100)})
    assert client.post(page("reference-set-edit", "both"), {"name": ""}).status_code == 400
    done = client.post(page("reference-set-edit", "both"), {"name": "Renamed", "description": "By hand."})
    assert done.url == page("reference-set-detail", "both")
    refused = client.post(page("reference-set-add-campaign", "both"), {"campaign": wider.pk})
    assert refused.status_code == 400
    assert "scale" in refused.context["add_form"].errors["campaign"][0]
    assert client.post(page("reference-set-add-campaign", "both"), {"campaign": later.pk}).status_code == 302
    shown = client.get(page("reference-set-detail", "both")).content.decode()
    assert "Renamed" in shown
    assert "By hand." in shown
    assert set(reference_set.campaigns.values_list("name", flat=True)) == {"Quality", "Later"}


def test_weights_are_imported_or_every_bad_row_is_shown(reference_set, dataset, manager, outsider, as_user):
    client, address = as_user(manager), page("reference-set-import") + "?dataset=replies"
    bad = SimpleUploadedFile("w.csv", b"item,text,weight\ni0,Good 0,2\ni9,Good 0,1\n")
    sent = client.post(address, {"name": "Theirs", "file": bad})
    assert "Queued" in client.get(sent.url).content.decode()
    assert as_user(outsider).get(sent.url).status_code == 404
    job = WeightsImport.objects.get()
    weights_import_execute(import_id=job.pk)
    refused = client.get(sent.url)
    assert [(row["line"], row["field"]) for row in refused.context["errors"]] == [(2, "weight")]
    told = b"".join(client.get(f"{sent.url}?format=csv").streaming_content).decode()
    assert "w.csv,2,weight,2,a number from -1 to 1" in told
    nameless = client.post(address, {"file": SimpleUploadedFile("w.csv", b"item,text,weight\ni0,Good 0,1\n")})
    assert "accepted: a name" in nameless.context["form"].errors["name"][0]
    good = SimpleUploadedFile("w.csv", b"item,text,weight\ni0,Good 0,0.5\ni1,Good 1,-1\n")
    sent = client.post(address, {"name": "Theirs", "file": good, "origin": "A paper"})
    weights_import_execute(import_id=WeightsImport.objects.latest("pk").pk)
    made = client.get(sent.url, headers={"HX-Request": "true"})
    assert made["HX-Redirect"] == page("release-detail", "theirs", 1)
    shown = client.get(sent.url).content.decode()
    assert f'href="{page("release-detail", "theirs", 1)}">Open the release</a>' in shown
    assert "References with a weight" in shown
    shown = client.get(made["HX-Redirect"]).content.decode()
    assert "These weights were imported" in shown
    assert "A paper" in shown
    assert "no reference of this release has an interval" in shown
    assert "include 0" not in shown
    for name in ("reference-set-detail", "reference-set-list"):
        assert client.get(page(name, *(["theirs"] if name.endswith("detail") else []))).status_code == 200
    assert client.get(page("reference-set-import"), {"dataset": "nowhere"}).status_code == 404


def test_a_release_by_z_scores_says_that_histograms_hold_more_than_weighs(reference_set, viewer, as_user):
    build(reference_set, method="zscore")
    build(reference_set)
    client = as_user(viewer)
    by_z, by_mean = (client.get(page("release-detail", "both", number)).content.decode() for number in (1, 2))
    assert "hold every judgement of a reference, its n those that weigh it" in by_z
    assert "hold every judgement" not in by_mean
    assert "intervals include 0" in by_mean


def test_an_import_that_waits_is_cancelled_by_a_manager_alone(dataset, manager, viewer, outsider, as_user):
    job = weights_import_create(
        dataset=dataset,
        filename="w.csv",
        content=b"item,text,weight\ni0,Good 0,1\n",
        options=ImportOptions(name="Theirs"),
        by=manager,
    )
    live = as_user(viewer).get(page("weights-import-detail", job.pk), headers={"HX-Request": "true"}).content.decode()
    assert live.lstrip().startswith('<div id="import-status"')
    cancel = page("weights-import-cancel", job.pk)
    assert as_user(outsider).post(cancel).status_code == 404
    assert as_user(viewer).post(cancel).status_code == 403
    assert as_user(manager).get(cancel).status_code == 405
    assert as_user(manager).post(cancel).url == page("weights-import-detail", job.pk)
    weights_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.release) == ("cancelled", None)


def test_every_page_of_imported_weights_opens_and_says_what_is_not_known(reference_set, dataset, manager, as_user):
    build(reference_set)
    taken = release_import(
        dataset=dataset,
        filename="w.csv",
        content=b"item,text,weight\ni0,Good 0,0.5\n",
        options=ImportOptions(name="Theirs"),
        by=manager,
    )
    client = as_user(manager)
    names = ("detail", "browse", "attention", "sensitivity", "influence", "guard", "compare")
    for name in names:
        answer = client.get(page(f"release-{name}", "theirs", 1))
        assert answer.status_code == 200, name
    response = taken.weights.get().response
    assert client.get(page("response-detail", response.pk)).status_code == 200
    item = dataset.items.get(external_id="i0")
    assert client.get(page("item-detail", "replies", item.pk)).status_code == 200
    assert "Raters cannot be compared" in client.get(page("release-compare", "theirs", 1)).content.decode()
