"""Comparing, deprecating and downloading releases; changing sets; importing weights."""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Release, WeightsImport
from annotation.quality.selectors.monitoring.live import campaign_statistics
from annotation.quality.selectors.raters import moment
from annotation.references.releases.files.kinds import FILES
from annotation.references.releases.selectors.facts import release_agreement
from annotation.references.releases.services.imports import (
    ImportOptions,
    release_import,
    weights_import_create,
    weights_import_execute,
)
from annotation.references.releases.services.releases import release_build, release_create, release_deprecate
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.snapshots import recalled


@pytest.fixture
def dataset(request, project):
    """The data set of the reference set, in a test that has one."""
    if "reference_set" in request.fixturenames:
        return request.getfixturevalue("reference_set").dataset
    return make_dataset(project)


@pytest.fixture
def reference_set(project):
    return recalled("good and bad answers", project, lambda: _reference_set(project))


def _reference_set(project):
    """i0 .. i3, each with a good answer and a bad one."""
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    for number in range(4):
        item = make_item(dataset, f"i{number}")
        good_response, bad_response = (
            make_response(item, f"Good {number}", "human"),
            make_response(item, f"Bad {number}", "mined"),
        )
        for rater, high, low in (("ann", 4, 1), ("bob", 5, 2)):
            rate(campaign, rater, good_response, high)
            rate(campaign, rater, bad_response, low)
    return reference_set_create(dataset=dataset, name="Both", campaigns=[campaign], source_kinds=["human", "mined"])


def build(reference_set, **arguments) -> Release:
    release = release_create(reference_set=reference_set, **arguments)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    return release


@pytest.fixture
def releases(reference_set, dataset):
    """v1; and v2, after zoe rated every answer to i0 with 1 and an answer was added, without bob."""
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


def test_viewers_read_pages_that_are_404_for_outsiders(releases, viewer, outsider, as_user):
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

    For i1 to i3 only ann's 4 and 1 remain: 0.75 to 0.5, and -0.75 to -1.
    """
    context = as_user(viewer).get(page("release-compare", "both", 2)).context
    difference = context["difference"]
    assert context["before"] == releases[0]
    assert difference.counts() == {"moved": 8, "signs": 1, "added": 1, "gone": 0}
    assert (difference.up, difference.down, difference.shared) == (0, 8, 8)
    assert difference.mean_move == pytest.approx((1.0 + 7 * 0.25) / 8)
    assert difference.largest_move == 1.0
    assert [item.external_id for item in context["lost"]] == ["i0"]
    assert context["gained"] == []
    first = context["page"].rows[0]
    assert (first.text, first.before, first.after, first.n_before, first.n_after) == ("Good 0", 0.75, -0.25, 2, 2)
    assert (context["raters"].joined, context["raters"].left, context["raters"].stayed) == (["zoe"], ["bob"], 1)
    differing = {change.what for change in context["changes"] if not change.same}
    assert differing == {"Rules", "Judgements"}


def test_only_a_later_release_is_described_as_changed_since(releases, viewer, as_user, reference_set):
    client = as_user(viewer)
    later = client.get(page("release-compare", "both", 2)).content.decode()
    assert "What changed since v1" in later
    earlier = client.get(page("release-compare", "both", 1)).content.decode()
    assert "How v1 differs from the later v2" in earlier
    assert "changed since" not in earlier
    assert 'data-label="v2"' in earlier
    other_set = reference_set_create(
        dataset=reference_set.dataset,
        name="Other",
        campaigns=list(reference_set.campaigns.all()),
        source_kinds=["human"],
    )
    build(other_set)
    across_sets = client.get(page("release-compare", "both", 2), {"with": "other/v1"}).content.decode()
    assert "How it differs from Other v1" in across_sets


def test_a_campaign_and_its_release_give_one_interval_of_alpha(reference_set):
    campaign = reference_set.campaigns.get()
    statistics, _ = campaign_statistics(campaign, moment(campaign))
    alpha, built = statistics.criteria[0].alpha, release_agreement(build(reference_set))
    assert (built.alpha, built.alpha_low, built.alpha_high) == pytest.approx((alpha.alpha, alpha.low, alpha.high))


def test_lists_of_sets_show_that_the_newest_release_is_deprecated(releases, manager, as_user):
    client = as_user(manager)
    sets, overview = page("reference-set-list"), page("project-detail")
    release_deprecate(release=releases[0], reason="Too few raters.", by=manager)
    assert "deprecated" not in client.get(sets).content.decode()
    assert f">{releases[1]}: " in client.get(overview).content.decode()
    release_deprecate(release=releases[1], reason="A wrong scale.", by=manager)
    assert 'title="A wrong scale.">deprecated</span>' in client.get(sets).content.decode()
    assert f">{releases[1]}: " not in client.get(overview).content.decode()  # no finding any more


def test_a_comparison_with_a_later_release_is_reversed(releases, viewer, as_user):
    client = as_user(viewer)
    context = client.get(page("release-compare", "both", 1), {"with": "both/v2"}).context
    assert context["difference"].counts() == {"moved": 8, "signs": 1, "added": 0, "gone": 1}
    assert [item.external_id for item in context["gained"]] == ["i0"]
    removed = client.get(page("release-compare", "both", 1), {"with": "both/v2", "show": "gone"})
    assert [row.text for row in removed.context["page"].rows] == ["New"]
    assert client.get(page("release-compare", "both", 1), {"with": "other/v1"}).status_code == 404
    assert client.get(page("release-compare", "both", 1), {"show": "colours"}).status_code == 404


def test_the_pages_of_a_comparison_hold_every_row_once_forwards_and_backwards(releases, viewer, as_user, monkeypatch):
    monkeypatch.setattr("annotation.references.releases.selectors.differences.PAGE", 3)
    client, address = as_user(viewer), page("release-compare", "both", 2)
    rows, pages = [], []
    query = "?show=moved"
    while query:
        context = client.get(address + query.split("#")[0]).context
        pages.append([row.response_id for row in context["page"].rows])
        rows += context["page"].rows
        last, query = context, context["next_url"]
    assert len({row.response_id for row in rows}) == len(rows) == 8
    assert [row.size for row in rows] == sorted((row.size for row in rows), reverse=True)
    previous = client.get(address + last["previous_url"].split("#")[0]).context
    assert [row.response_id for row in previous["page"].rows] == pages[-2]
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
    comparison = client.get(page("release-compare", "both", 2))
    assert comparison.context["difference"].is_empty
    assert "cite either" in comparison.content.decode()
    assert client.get(page("release-detail", "both", 2)).context["twin"] == first
    assert client.get(page("release-detail", "both", 1)).context["twin"] is None


def test_the_only_release_of_a_data_set_has_nothing_to_compare_with(reference_set, viewer, as_user):
    build(reference_set)
    assert "Nothing to compare with" in as_user(viewer).get(page("release-compare", "both", 1)).content.decode()


def test_a_deprecation_is_shown_where_the_release_is_offered_and_can_be_undone(releases, manager, as_user):
    client = as_user(manager)
    refused = client.post(page("release-deprecate", "both", 2), {"reason": ""})
    assert refused.status_code == 400
    deprecated = client.post(page("release-deprecate", "both", 2), {"reason": "Use v1 <instead>."})
    assert deprecated.url == page("release-detail", "both", 2)
    release_page = client.get(deprecated.url).content.decode()
    assert "Use v1 &lt;instead&gt;." in release_page
    assert "deprecated" in client.get(page("reference-set-detail", "both")).content.decode()
    run_form = client.get(reverse("metrics:run-create", args=["chit-chat"]), {"metric": "bleu"}).content.decode()
    assert "Both v2 · Replies (deprecated)" in run_form
    assert run_form.index("Both v1 · Replies") < run_form.index("Both v2 · Replies")
    repeated = client.post(page("release-deprecate", "both", 2), {"reason": "Again."})
    assert "deprecated already" in repeated.content.decode()
    client.post(page("release-restore", "both", 2))
    assert "Use v1" not in client.get(deprecated.url).content.decode()


def test_every_file_is_offered_with_its_hash_and_an_etag(releases, viewer, as_user):
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
        repeated = client.get(address, headers={"If-None-Match": f'"other", {answer["ETag"]}'})
        assert (repeated.status_code, repeated.content, repeated["ETag"]) == (304, b"", answer["ETag"])
    assert client.get(page("release-file", "both", 2, "weights.exe")).status_code == 404


def test_a_changed_file_is_sent_again(releases, viewer, manager, as_user):
    client, address = as_user(viewer), page("release-file", "both", 2, "card.md")
    tag = client.get(address)["ETag"]
    release_deprecate(release=releases[1], reason="Wrong.", by=manager)
    answer = client.get(address, headers={"If-None-Match": tag})
    assert answer.status_code == 200
    assert "Deprecated" in b"".join(answer.streaming_content).decode()


def test_a_set_is_renamed_and_gains_a_campaign_and_refusals_are_shown_at_their_fields(
    reference_set, dataset, manager, as_user
):
    client = as_user(manager)
    later = make_campaign(dataset, "Later")
    relative = make_campaign(dataset, "Relative")
    relative.criteria.update(kind="magnitude")
    assert client.post(page("reference-set-edit", "both"), {"name": ""}).status_code == 400
    renamed = client.post(page("reference-set-edit", "both"), {"name": "Renamed", "description": "By hand."})
    assert renamed.url == page("reference-set-detail", "both")
    refused = client.post(page("reference-set-add-campaign", "both"), {"campaign": relative.pk})
    assert refused.status_code == 400
    assert "scale" in refused.context["add_form"].errors["campaign"][0]
    assert client.post(page("reference-set-add-campaign", "both"), {"campaign": later.pk}).status_code == 302
    set_page = client.get(page("reference-set-detail", "both")).content.decode()
    assert "Renamed" in set_page
    assert "By hand." in set_page
    assert set(reference_set.campaigns.values_list("name", flat=True)) == {"Quality", "Later"}


def test_weights_are_imported_or_every_bad_row_is_shown(reference_set, dataset, manager, outsider, as_user):
    client, address = as_user(manager), page("reference-set-import") + "?dataset=replies"
    bad_file = SimpleUploadedFile("w.csv", b"item,text,weight\ni0,Good 0,2\ni9,Good 0,1\n")
    answer = client.post(address, {"name": "Theirs", "file": bad_file})
    assert "Queued" in client.get(answer.url).content.decode()
    assert as_user(outsider).get(answer.url).status_code == 404
    job = WeightsImport.objects.get()
    weights_import_execute(import_id=job.pk)
    failed = client.get(answer.url)
    assert [(row["line"], row["field"]) for row in failed.context["errors"]] == [(2, "weight")]
    problems = b"".join(client.get(f"{answer.url}?format=csv").streaming_content).decode()
    assert "w.csv,2,weight,2,a number from -1 to 1" in problems
    nameless = client.post(address, {"file": SimpleUploadedFile("w.csv", b"item,text,weight\ni0,Good 0,1\n")})
    assert "accepted: a name" in nameless.context["form"].errors["name"][0]
    good_file = SimpleUploadedFile("w.csv", b"item,text,weight\ni0,Good 0,0.5\ni1,Good 1,-1\n")
    answer = client.post(address, {"name": "Theirs", "file": good_file, "origin": "A paper"})
    weights_import_execute(import_id=WeightsImport.objects.latest("pk").pk)
    finished = client.get(answer.url, headers={"HX-Request": "true"})
    assert finished["HX-Redirect"] == page("release-detail", "theirs", 1)
    import_page = client.get(answer.url).content.decode()
    assert f'href="{page("release-detail", "theirs", 1)}">Open the release</a>' in import_page
    assert "References with a weight" in import_page
    release_page = client.get(finished["HX-Redirect"]).content.decode()
    assert "These weights were imported" in release_page
    assert "A paper" in release_page
    assert "no reference of this release has an interval" in release_page
    assert "include 0" not in release_page
    for name in ("reference-set-detail", "reference-set-list"):
        shown = client.get(page(name, *(["theirs"] if name.endswith("detail") else []))).content.decode()
        assert "Written by a person" in shown
    assert client.get(page("reference-set-import"), {"dataset": "nowhere"}).status_code == 404


def test_a_release_by_z_scores_notes_that_histograms_hold_more_judgements_than_count(reference_set, viewer, as_user):
    build(reference_set, method="zscore")
    build(reference_set)
    client = as_user(viewer)
    by_z, by_mean = (client.get(page("release-detail", "both", number)).content.decode() for number in (1, 2))
    assert "hold every judgement of a reference, its n those that weigh it" in by_z
    assert "hold every judgement" not in by_mean
    assert "intervals include 0" in by_mean


def test_a_release_is_scored_with_and_says_if_outputs_were_rated_rather_than_references(
    dataset, manager, viewer, as_user
):
    campaign = make_campaign(dataset)
    for number in range(3):
        item = make_item(dataset, f"i{number}")
        reference = make_response(item, f"Good {number}", "human")
        for rater in ("ann", "bob"):
            rate(campaign, rater, make_response(item, f"Said {number}", f"S-{rater}"), 3)
            if not number:
                rate(campaign, rater, reference, 4)
    rare = build(reference_set_create(dataset=dataset, name="Rare", campaigns=[campaign], source_kinds=["human"]))

    of_manager, of_viewer = (
        as_user(user).get(page("release-detail", "rare", 1)).content.decode() for user in (manager, viewer)
    )

    assert "<strong>Only 1 of 3 references has a weight</strong>" in of_manager
    assert "Raters rated 3" in of_manager
    assert "Rate the references</a>" in of_manager
    assert f'btn-primary" href="{reverse("metrics:run-create", args=["chit-chat"])}?release={rare.pk}"' in of_manager
    assert "Rate the references" not in of_viewer
    assert "Score with these weights" not in of_viewer
    assert 'btn-primary" href="#downloads"' in of_viewer


def test_only_a_manager_cancels_a_queued_import(dataset, manager, viewer, outsider, as_user):
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


def test_every_page_of_imported_weights_opens(reference_set, dataset, manager, as_user):
    build(reference_set)
    imported = release_import(
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
    response = imported.weights.get().response
    assert client.get(page("response-detail", response.pk)).status_code == 200
    item = dataset.items.get(external_id="i0")
    assert client.get(page("item-detail", "replies", item.pk)).status_code == 200
    first = client.get(page("release-detail", "theirs", 1)).content.decode()
    assert "Only 1 of 4 items" in first
    assert "Rate more references" in first
    assert "no reference has a histogram of its ratings" in first
    assert "Raters cannot be compared" in client.get(page("release-compare", "theirs", 1)).content.decode()
