"""Pages of studies, and who may open them."""

import csv
import io
import json
from html import unescape

import pytest
from django.urls import reverse

from annotation.models import Criterion, JobState
from correlations.models import Study
from correlations.selectors.methods import averaged_criteria
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


READING = [
    ("study-list", {}),
    ("study-list-download", {"file_format": "csv"}),
    ("study-detail", {"pk": True}),
    ("study-row", {"pk": True, "row": 0}),
    ("study-figure", {"pk": True, "figure": "forest"}),
    ("study-figure-download", {"pk": True, "figure": "order", "file_format": "svg"}),
    ("study-download", {"pk": True, "table": "correlations", "file_format": "csv"}),
]


def address(study: Study, name: str, arguments: dict[str, object]) -> str:
    kwargs = arguments | ({"pk": study.pk} if "pk" in arguments else {})
    return reverse(f"correlations:{name}", kwargs={"project_slug": study.project.slug} | kwargs)


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def form_data(world: World, **changes: object) -> dict[str, object]:
    return {
        "release": world.release.pk,
        "name": "From the form",
        "campaigns": ["Output ratings"],
        "systems": ["Echo", "Parrot", "Quill"],
        "metrics": ["bleu", "delta_bleu"],
        "subsets": "original, w>=0.5",
        "unit_size": 10,
        "assignments": 3,
        "bootstrap": 0,
        "order": 2,
        "tokenize": "whitespace",
        "lowercase": "on",
        "orientation": "both",
        "remainder": "keep",
        "seed": 1,
        "coefficients": ["spearman", "kendall"],
        "compare": "best",
    } | changes


def test_a_viewer_may_read(study: Study, viewer, as_user) -> None:
    for name, arguments in READING:
        assert as_user(viewer).get(address(study, name, arguments)).status_code == 200, name


def test_a_study_of_another_project_is_404(study: Study, outsider, as_user) -> None:
    url = reverse("correlations:study-detail", kwargs={"project_slug": "elsewhere", "pk": study.pk})

    assert as_user(outsider).get(url).status_code == 404


def test_a_study_without_the_systems_that_copy_references_begins_like_this_one(study: Study, manager, as_user) -> None:
    client = as_user(manager)

    def copying(*names: str) -> str:
        texts = [{"system": name, "items": study.result["items"]["used"]} for name in names]
        study.result["circularity"] |= {"same_text": texts, "same_text_items": 2_000}
        study.save(update_fields=["result"])
        return client.get(address(study, "study-detail", {"pk": True})).content.decode()

    page = copying("Parrot")
    assert "2,000 outputs are each a reference of its item" in page
    link = unescape(page.split(">Start a study without it<")[0].rsplit('href="', 1)[1].rstrip('"'))
    form = client.get(link).context["form"]
    assert (form["name"].value(), form["systems"].value()) == ("Cats without Parrot", ["Echo", "Quill"])
    assert form["campaigns"].value() == study.specification["campaigns"]
    assert form["assignments"].value() == study.specification["assignments"]
    assert form.release == study.release
    assert "Start a study without" not in copying("Parrot", "Quill")  # a study needs two systems


def test_the_list_of_studies_leads_to_published_tables(study: Study, viewer, as_user) -> None:
    page = as_user(viewer).get(reverse("correlations:study-list", args=[study.project.slug])).text
    assert f'href="{reverse("help-published")}"' in page


def test_an_unknown_row_is_404(study: Study, viewer, as_user) -> None:
    assert as_user(viewer).get(address(study, "study-row", {"pk": True, "row": 99})).status_code == 404


TABLES = ["correlations", "sweeps", "threshold", "comparisons", "systems", "dropped", "pairs", "observations"]


def test_every_table_comes_as_csv_and_json_with_the_same_rows(study: Study, viewer, as_user) -> None:
    client = as_user(viewer)
    for table in TABLES:
        csv_url, json_url = (
            address(study, "study-download", {"pk": True, "table": table, "file_format": form})
            for form in ("csv", "json")
        )
        rows = list(csv.DictReader(io.StringIO(body(client.get(csv_url)).decode("utf-8-sig"))))
        data = json.loads(body(client.get(json_url)))
        assert len(rows) == len(data) > 0, table
        assert list(rows[0]) == list(data[0]), table


def test_the_table_of_correlations_holds_the_stored_numbers(study: Study, viewer, as_user) -> None:
    url = address(study, "study-download", {"pk": True, "table": "correlations", "file_format": "json"})

    first = json.loads(body(as_user(viewer).get(url)))[0]

    row = study.result["rows"][0]
    assert first["rho"] == row["rho"]["value"]
    assert [first["tau_items_low"], first["tau_items_high"]] == row["tau"]["over_items"]
    assert first["observations"] == row["n_observations"]


def test_the_full_study_can_be_downloaded(study: Study, viewer, as_user) -> None:
    url = address(study, "study-download", {"pk": True, "table": "study", "file_format": "json"})

    download = json.loads(as_user(viewer).get(url).content)

    assert download["signature"] == study.signature
    assert download["result"] == study.result


def test_an_unknown_table_is_404(study: Study, viewer, as_user) -> None:
    for table in ("nonsense", "study"):
        url = address(study, "study-download", {"pk": True, "table": table, "file_format": "csv"})
        assert as_user(viewer).get(url).status_code == 404, table


def test_charts_have_specifications_in_both_themes(study: Study, viewer, as_user) -> None:
    for figure in ("forest", "threshold", "unit_size", "order", "row-0"):
        url = address(study, "study-figure", {"pk": True, "figure": figure})
        light, dark = (as_user(viewer).get(url, {"theme": theme}).json() for theme in ("light", "dark"))
        assert "vega-lite" in light["$schema"]
        assert light != dark, figure


def test_charts_can_be_downloaded(study: Study, viewer, as_user) -> None:
    for kind, starts in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        url = address(study, "study-figure-download", {"pk": True, "figure": "forest", "file_format": kind})
        response = as_user(viewer).get(url)
        assert response.content.startswith(starts)
        assert response["Content-Disposition"].endswith(f'forest.{kind}"')


def test_an_unknown_chart_is_404(study: Study, viewer, as_user) -> None:
    for figure, kind in (("forest", "gif"), ("row-99", "svg"), ("row-" + 4500 * "1", "svg"), ("spiral", "svg")):
        url = address(study, "study-figure-download", {"pk": True, "figure": figure, "file_format": kind})
        assert as_user(viewer).get(url).status_code == 404, figure


def test_a_manager_starts_equal_studies_only_once(
    world: World, manager, as_user, django_capture_on_commit_callbacks, monkeypatch
) -> None:
    handed_out: list[int] = []
    monkeypatch.setattr("correlations.tasks.execute.delay", handed_out.append)
    url = reverse("correlations:study-create", args=[world.project.slug])

    with django_capture_on_commit_callbacks(execute=True):
        first = as_user(manager).post(url, form_data(world))
        repeated = as_user(manager).post(url, form_data(world, name="Another name"))

    study = Study.objects.get()
    assert first.url == repeated.url == reverse("correlations:study-detail", args=[world.project.slug, study.pk])
    assert handed_out == [study.pk]
    assert study.requested_by == manager
    assert study.specification["subsets"] == ["original", "w>=0.5"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"subsets": "w>9"}, "accepted: a weight from -1 to 1"),
        ({"systems": ["Echo"]}, "accepted: two or more"),
        ({"systems": []}, "Choose at least one under “Systems”."),
        ({"unit_size": 0}, "greater than or equal to 1"),
    ],
)
def test_an_invalid_form_shows_the_accepted_values(
    world: World, manager, as_user, change: dict[str, object], message: str
) -> None:
    response = as_user(manager).post(
        reverse("correlations:study-create", args=[world.project.slug]), form_data(world, **change)
    )

    assert response.status_code == 200
    assert message in response.content.decode()
    assert not Study.objects.exists()


def test_a_queued_study_can_be_cancelled_and_retried(
    world: World, manager, as_user, django_capture_on_commit_callbacks, monkeypatch
) -> None:
    handed_out: list[int] = []
    monkeypatch.setattr("correlations.tasks.execute.delay", handed_out.append)
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(), by=None)

    as_user(manager).post(address(study, "study-cancel", {"pk": True}))
    study.refresh_from_db()
    assert study.state == JobState.CANCELLED

    with django_capture_on_commit_callbacks(execute=True):
        as_user(manager).post(address(study, "study-retry", {"pk": True}))
    study.refresh_from_db()
    assert study.state == JobState.QUEUED
    assert handed_out == [study.pk]


def test_a_study_without_a_result_shows_its_state_and_has_no_downloads(world: World, viewer, as_user) -> None:
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(), by=None)
    client = as_user(viewer)

    assert "Next in line" in client.get(address(study, "study-detail", {"pk": True})).content.decode()
    for name, arguments in READING[3:]:
        assert client.get(address(study, name, arguments)).status_code == 404


def test_the_progress_fragment_refreshes_the_page_when_the_study_is_done(study: Study, viewer, as_user) -> None:
    response = as_user(viewer).get(address(study, "study-detail", {"pk": True}), headers={"HX-Request": "true"})

    assert response["HX-Refresh"] == "true"


def test_the_list_takes_a_bounded_number_of_queries(
    world: World, viewer, as_user, django_assert_max_num_queries
) -> None:
    for seed in range(60):
        study_create(project=world.project, name=f"Study {seed}", specification=world.specification(seed=seed), by=None)
    client = as_user(viewer)
    url = reverse("correlations:study-list", args=[world.project.slug])

    with django_assert_max_num_queries(8):
        page = client.get(url).content.decode()

    assert "Study 59" in page
    assert "Study 9<" not in page
    oldest = Study.objects.order_by("-pk")[49].pk
    assert f"?before={oldest}" in page
    assert "Study 9<" in client.get(f"{url}?before={oldest}").content.decode()


def test_the_list_of_studies_can_be_downloaded(study: Study, viewer, as_user) -> None:
    (row,) = json.loads(body(as_user(viewer).get(address(study, "study-list-download", {"file_format": "json"}))))
    assert (row["study"], row["name"], row["state"]) == (study.pk, "Cats", "done")
    assert row["release"] == f"{study.release.reference_set.slug}/v{study.release.number}"
    assert row["signature"] == study.signature


def test_a_study_may_choose_its_criteria_in_the_form(world: World, manager, as_user, monkeypatch) -> None:
    monkeypatch.setattr("correlations.tasks.execute.delay_on_commit", lambda _: None)
    Criterion.objects.filter(campaign=world.output_campaign, name="relevance").update(scale_max=3)
    client, url = as_user(manager), reverse("correlations:study-create", args=[world.project.slug])
    text = client.get(url).content.decode()
    assert "relevance (1 to 3 or 1 to 5)" in text
    assert "the ends of each become −1 and +1 first" in text
    for chosen, expected in ((["informativeness"], ["informativeness"]), ([], ["informativeness", "relevance"])):
        client.post(url, form_data(world, criteria=chosen))
        study = Study.objects.latest("pk")
        assert study.specification["criteria"] == expected
    assert "(1 to 5) and relevance (1 to 3), the ends of each scale set to -1 and +1" in averaged_criteria(study)


def test_a_study_of_some_pairs_without_a_release(world: World, manager, as_user, monkeypatch) -> None:
    monkeypatch.setattr("correlations.tasks.execute.delay_on_commit", lambda _: None)
    client, address_ = as_user(manager), reverse("correlations:study-create", args=[world.project.slug])
    data = form_data(world, metrics=["length"], subsets="all", texts=f"dataset-{world.dataset.pk}")
    assert "choose a release" in client.get(f"{address_}?dataset={world.dataset.pk}").content.decode()

    refused = client.post(address_, data | {"pairs": "Echo, Quill\nEcho against Parrot"})
    client.post(address_, data | {"pairs": "Echo, Quill\nEcho, Parrot", "release": ""})

    assert "accepted: two systems with a comma" in refused.content.decode()
    study = Study.objects.get()
    assert (study.release, study.specification["pairs"]) == (None, [["Echo", "Quill"], ["Echo", "Parrot"]])
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert client.get(address(study, "study-detail", {"pk": True})).status_code == 200
    for kind in ("study", "parameter-study"):
        assert client.get(reverse(f"correlations:{kind}-list", args=[world.project.slug])).status_code == 200
