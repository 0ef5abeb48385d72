"""Sensitivity, raters and circularity of a release: pages, charts and downloads."""

import csv
import html
import io
import json
import re

import pytest
from django.urls import reverse

from annotation.models import Rater, Response
from annotation.references.releases.files.kinds import file_chunks
from annotation.references.releases.services.imports import ImportOptions, release_import
from tests.annotation.worlds.rated import make_campaign, make_item, make_response
from tests.annotation.worlds.weighed import make_release, rate_all

PAGES = ("release-sensitivity", "release-influence", "release-guard")


@pytest.fixture
def release(project):
    return make_release(project)


def address(release, name, *more, **query) -> str:
    reference_set = release.reference_set
    return reverse(
        f"annotation:{name}",
        args=[reference_set.project.slug, reference_set.slug, release.number, *more],
        query=query or None,
    )


def chart_rows(specification, data) -> list[dict[str, object]]:
    return specification["datasets"][data["name"]]


def table(answer) -> list[dict[str, str]]:
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


@pytest.mark.parametrize("name", PAGES)
def test_members_see_the_pages_and_outsiders_do_not(as_user, viewer, outsider, release, name):
    page = as_user(viewer).get(address(release, name))
    assert page.status_code == 200
    assert f'<a href="{address(release, name)}" aria-current="page">' in page.content.decode()
    assert as_user(outsider).get(address(release, name)).status_code == 404


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_a_release_that_is_not_built_are_404(as_user, viewer, release, name):
    release.reference_set.releases.create(number=2)
    release.number = 2
    assert as_user(viewer).get(address(release, name)).status_code == 404


@pytest.mark.parametrize("name", ["release-attention", *PAGES])
def test_every_download_link_of_a_page_works(as_user, viewer, release, name):
    client = as_user(viewer)
    page = client.get(address(release, name)).content.decode()
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"\s+download', page)]
    assert len(links) >= 4
    for link in links:
        answer = client.get(link if link.startswith("/") else address(release, name) + link)
        assert answer.status_code == 200, link
        assert "filename=" in answer["Content-Disposition"], link


def test_sensitivity_compares_every_scheme(as_user, viewer, release):
    page = " ".join(as_user(viewer).get(address(release, "release-sensitivity")).content.decode().split())
    schemes = ("Linear", "Median", "Z-scores", "Model-based")
    for label in (*schemes, "Raw, noise removed", "Negatives dropped", "All weights 1"):
        assert f">{label}</a>" in page
    assert page.count("this release</span>") == 1
    assert "clip 2" in page


def test_sensitivity_downloads_schemes_changes_and_all_weights(as_user, viewer, release):
    client = as_user(viewer)
    schemes = table(client.get(address(release, "release-sensitivity", format="csv")))
    assert [row["scheme"] for row in schemes][:2] == ["linear", "median"]
    assert (schemes[0]["is_own"], float(schemes[0]["max_change"])) == ("True", pytest.approx(0, abs=1e-12))
    lost = table(client.get(address(release, "release-sensitivity", format="csv", scheme="no_negatives", what="gone")))
    assert [(row["text"], row["no_negatives"]) for row in lost] == [("Hm.", ""), ("No.", "")]
    weights = table(client.get(address(release, "release-sensitivity", format="csv", table="weights")))
    assert [row["text"] for row in weights] == ["Fine.", "Well.", "Hm.", "No.", "Ada said it."]
    assert (weights[0]["release"], weights[0]["median"], weights[0]["ones"]) == ("0.5", "1.0", "1.0")


def test_changes_are_listed_with_both_weights_and_links(as_user, viewer, release):
    page = as_user(viewer).get(address(release, "release-sensitivity", scheme="median", what="zero")).content.decode()
    # "Ada said it." is 0 under both; "Hm.", 2, 4, 2, keeps its sign: no weight becomes 0.
    assert '<p class="muted">None.</p>' in page
    page = as_user(viewer).get(address(release, "release-sensitivity", scheme="ones", what="sign")).content.decode()
    hm = Response.objects.get(text="Hm.")
    assert reverse("annotation:response-detail", args=["chit-chat", hm.pk]) in page
    assert "−0.17" in page


@pytest.mark.parametrize("query", [{"scheme": "odd"}, {"scheme": "median", "what": "odd"}])
def test_an_unknown_scheme_or_change_is_404(as_user, viewer, release, query):
    assert as_user(viewer).get(address(release, "release-sensitivity", **query)).status_code == 404


def test_sensitivity_has_a_chart_per_scheme_and_one_picture(as_user, viewer, release):
    client = as_user(viewer)
    answer = client.get(address(release, "release-sensitivity-chart", "json", scheme="median", theme="dark"))
    specification = json.loads(answer.content)
    [_, points] = specification["layer"]
    rows = chart_rows(specification, points["data"])
    assert sum(row["references"] for row in rows) == 5
    assert {row["other"] for row in rows if row["own"] == 0.5} == {0.5, 1.0}
    assert client.get(address(release, "release-sensitivity-chart", "json", scheme="odd")).status_code == 404
    picture = client.get(address(release, "release-sensitivity-chart", "svg"))
    assert picture["Content-Type"] == "image/svg+xml"


def test_raters_are_sorted_by_influence_and_shown_with_their_rule(as_user, viewer, release):
    client = as_user(viewer)
    rows = table(client.get(address(release, "release-influence", format="csv")))
    assert [row["rater"] for row in rows] == ["ann", "bob", "cem"]
    assert [float(row["max_change"]) for row in rows] == [1.0, 1.0, 0.5]
    assert json.loads(rows[0]["rule"]) == {"rule": "exclude_raters", "version": 1, "raters": ["ann"]}
    bob = Rater.objects.get(pseudonym="bob")
    page = client.get(address(release, "release-influence", rater=bob.pk)).content.decode()
    assert "Without bob" in page
    assert "&quot;raters&quot;:[&quot;bob&quot;]" in page
    campaign = release.report["campaigns"][0]["id"]
    assert reverse("annotation:campaign-rater", args=["chit-chat", campaign, bob.pk]) in page


def test_raters_are_sorted_by_the_requested_column(as_user, viewer, release):
    client = as_user(viewer)
    rows = table(client.get(address(release, "release-influence", format="csv", sort="n_ratings")))
    assert [row["rater"] for row in rows] == ["ann", "bob", "cem"]
    assert client.get(address(release, "release-influence", sort="odd")).status_code == 404
    assert client.get(address(release, "release-influence", rater=10**9)).status_code == 404


def test_raters_have_a_chart(as_user, viewer, release):
    client = as_user(viewer)
    specification = json.loads(client.get(address(release, "release-influence-chart", "json")).content)
    rows = chart_rows(specification, specification["data"])
    assert {row["rater"]: row["ratings"] for row in rows} == {"ann": 5, "bob": 5, "cem": 4}
    assert client.get(address(release, "release-influence-chart", "png"))["Content-Type"] == "image/png"


def test_the_guard_names_raters_and_texts_on_both_sides(as_user, viewer, release):
    outputs = make_campaign(release.reference_set.dataset, "Outputs")
    rate_all(outputs, Response.objects.filter(sources__system__name="Bo").first(), ann=3, zoe=2)
    client = as_user(viewer)
    page = " ".join(client.get(address(release, "release-guard")).content.decode().split())
    ann = Rater.objects.get(pseudonym="ann")
    assert reverse("annotation:campaign-rater", args=["chit-chat", outputs.pk, ann.pk]) in page
    assert "zoe" not in page
    assert "Ada said it." in page
    assert ">No circularity found.<" not in page
    raters = table(client.get(address(release, "release-guard", format="csv", table="raters")))
    assert [(row["rater"], row["reference_judgements"], row["output_judgements"]) for row in raters] == [
        ("ann", "5", "1")
    ]
    texts = table(client.get(address(release, "release-guard", format="csv")))
    assert [(row["system"], row["reference"]) for row in texts if row["identical"] == "True"] == [
        ("Ada", "Ada said it.")
    ]
    assert {row["system"] for row in texts if row["identical"] == "False"} == {"Bo"}


def test_the_guard_shows_one_systems_texts(as_user, viewer, release):
    item = release.reference_set.dataset.items.get(external_id="i1")
    make_response(item, "WELL.", "Cy")
    system = release.reference_set.dataset.systems.get(name="Cy")
    page = as_user(viewer).get(address(release, "release-guard", system=system.pk)).content.decode()
    assert "WELL." in page
    assert "Ada said it." not in page


def test_the_guard_shows_a_note_when_nothing_is_found(as_user, viewer, release):
    Response.objects.get(text="Ada said it.").sources.filter(kind="system").delete()
    assert "No circularity found." in as_user(viewer).get(address(release, "release-guard")).content.decode()


def test_an_output_without_a_weight_is_no_overlap(as_user, viewer, project, release):
    make_response(make_item(release.reference_set.dataset, "i9"), "Late.", "mined", "Cy")
    page = as_user(viewer).get(address(release, "release-guard")).content.decode()
    assert "Late." not in page


@pytest.fixture
def imported(release):
    """The same weights, imported as if made by another tool."""
    content = b"".join(file_chunks(release, "references.csv"))
    return release_import(
        dataset=release.reference_set.dataset,
        filename="references.csv",
        content=content,
        options=ImportOptions(name="Theirs"),
        by=None,
    )


def test_imported_weights_have_only_the_figures_that_need_no_ratings(as_user, manager, imported):
    client = as_user(manager)
    page = " ".join(client.get(address(imported, "release-sensitivity")).content.decode().split())
    assert "imported without ratings" in page
    assert ">Negatives dropped</a>" in page
    assert ">Median</a>" not in page
    influence = client.get(address(imported, "release-influence")).content.decode()
    assert "No ratings are stored for these weights" in influence
    assert client.get(address(imported, "release-influence-chart", "json")).status_code == 404
    assert client.get(address(imported, "release-sensitivity-chart", "svg")).status_code == 404
    assert "Ada said it." in client.get(address(imported, "release-guard")).content.decode()
    list_page = client.get(address(imported, "release-attention", list="tie")).content.decode()
    assert "Well." in list_page
    assert "Rate ticked" not in list_page
    form = client.get(address(imported, "release-attention-send", list="tie", scope="whole")).content.decode()
    assert "No campaign to repeat" in form
