"""Pages of parameter studies, and who may open them."""

import csv
import html
import io
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.core.numbers import decimals, ends_in_words
from annotation.models import Item, JobState, Project
from correlations.models import ParameterStudy
from correlations.overview import parameter_findings
from correlations.results.report import sha256_of
from correlations.selectors.parameter_reports import SweepReport
from correlations.selectors.tuned import MARK
from correlations.services.parameter_execution import parameter_study_execute
from correlations.services.parameter_studies import parameter_study_create
from tests.metrics.trained import models_dir, trained_model  # noqa: F401
from tests.metrics.world import World, make_world
from tests.snapshots import recalled

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]

READING = [
    ("list", {}),
    ("list-download", {"file_format": "csv"}),
    ("detail", {"pk": True}),
    ("figure", {"pk": True, "figure": "max_order-system"}),
    ("figure-download", {"pk": True, "figure": "max_order-segment", "file_format": "svg"}),
    ("report", {"pk": True, "file_format": "json"}),
    ("download", {"pk": True, "table": "max_order", "file_format": "csv"}),
]
CHANGING = [("cancel", {"pk": True}), ("retry", {"pk": True})]
SPECIFICATION = {
    "release": "cat-references",
    "campaigns": ["Output ratings", "Reference ratings"],
    "systems": ["Echo", "Human", "Parrot", "Quill", "Random"],
    "metric": "bleu",
    "sweeps": [{"parameter": "max_order", "values": [1, 2, 3]}],
    "bootstrap": 10,
    "halves": 5,
}


@pytest.fixture
def studied(project: Project) -> tuple[World, ParameterStudy]:
    return recalled("cats in orders", project, lambda: _studied(make_world(project)))


@pytest.fixture
def world(request: pytest.FixtureRequest, project: Project) -> World:
    """The world of the study, in a test that has one."""
    return request.getfixturevalue("studied")[0] if "study" in request.fixturenames else make_world(project)


@pytest.fixture
def study(studied: tuple[World, ParameterStudy]) -> ParameterStudy:
    return studied[1]


def _studied(world: World) -> tuple[World, ParameterStudy]:
    study, _ = parameter_study_create(project=world.project, name="Orders", specification=SPECIFICATION, by=None)
    parameter_study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return world, study


def address(study: ParameterStudy, name: str, arguments: dict[str, object]) -> str:
    kwargs = arguments | ({"pk": study.pk} if "pk" in arguments else {})
    return reverse(f"correlations:parameter-study-{name}", kwargs={"project_slug": study.project.slug} | kwargs)


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def form_data(world: World, **changes: object) -> dict[str, object]:
    return {
        "release": world.release.pk,
        "metric": "bleu",
        "name": "From the form",
        "campaigns": SPECIFICATION["campaigns"],
        "systems": SPECIFICATION["systems"],
        "subset": "all",
        "coefficient": "pearson",
        "bootstrap": 0,
        "halves": 0,
        "seed": 1,
        "own_max_order": 2,
        "own_tokenize": "whitespace",
        "own_lowercase": "on",
        "own_smoothing": "none",
        "sweep_max_order": "1..4",
        "sweep_subset": "w>0, original",
        "sweep_tokenize": "13a, char",
    } | changes


def test_a_viewer_may_read_and_not_change(study: ParameterStudy, viewer, as_user) -> None:
    for name, arguments in READING:
        assert as_user(viewer).get(address(study, name, arguments)).status_code == 200, name
    for name, arguments in [*CHANGING, ("create", {})]:
        assert as_user(viewer).post(address(study, name, arguments)).status_code == 403, name


def test_an_outsider_gets_404(study: ParameterStudy, outsider, as_user) -> None:
    client = as_user(outsider)
    for name, arguments in [*READING, ("create", {})]:
        assert client.get(address(study, name, arguments)).status_code == 404, name
    for name, arguments in CHANGING:
        assert client.post(address(study, name, arguments)).status_code == 404, name
    other_url = reverse("correlations:parameter-study-detail", args=["elsewhere", study.pk])
    assert client.get(other_url).status_code == 404


def test_the_report_is_written_as_every_file(study: ParameterStudy, viewer, as_user) -> None:
    client, result = as_user(viewer), study.read_result()

    def report(ending: str) -> bytes:
        return body(client.get(address(study, "report", {"pk": True, "file_format": ending})))

    page = client.get(address(study, "detail", {"pk": True})).content.decode()
    assert page.count("table-cards is-tight table-whole") == page.count("table-whole") > 0  # a phone shows cards
    assert address(study, "report", {"pk": True, "file_format": "pdf"}) in page
    assert "specification.json" not in page
    document = json.loads(report("json"))
    assert document["result"] == study.result
    assert document["specification"]["sweeps"] == study.specification["sweeps"]
    assert document["hashes"]["result"] == sha256_of(study.result)
    assert report("pdf").startswith(b"%PDF-")
    page = report("html").decode()
    sweep = result.sweeps[0]
    for point in sweep.points:
        value = point.system.coefficients["pearson"].value
        assert f">{value:.3f}<".replace("-", "−") in re.sub(r"\s+", "", page)
    assert SweepReport(sweep, result).lead in html.unescape(page)
    latex = zipfile.ZipFile(io.BytesIO(report("zip")))
    files = {"report.tex", "tables/values-max-order.tex", "tables/without-max-order.tex"}
    assert files | {"figures/max-order-system.pdf", "figures/max-order-segment.pdf"} <= set(latex.namelist())
    assert client.get(address(study, "report", {"pk": True, "file_format": "doc"})).status_code == 404
    answer = client.get(f"/api/v1/projects/{study.project.slug}/parameter-studies/{study.pk}/report/")
    assert json.loads(body(answer)) == document
    answer = client.get(f"/api/v1/projects/{study.project.slug}/parameter-studies/{study.pk}/report.html/")
    assert SweepReport(sweep, result).lead in html.unescape(body(answer).decode())


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex: Debian's texlive-latex-recommended has one")
def test_the_latex_compiles(study: ParameterStudy, viewer, as_user, tmp_path: Path) -> None:
    content = body(as_user(viewer).get(address(study, "report", {"pk": True, "file_format": "zip"})))
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout.decode(errors="replace")[-2000:]


def test_the_list_of_studies_can_be_downloaded(study: ParameterStudy, viewer, as_user) -> None:
    (row,) = json.loads(body(as_user(viewer).get(address(study, "list-download", {"file_format": "json"}))))
    assert (row["parameter_study"], row["name"], row["state"]) == (study.pk, "Orders", "done")
    assert (row["metric"], row["parameters"], row["release"]) == ("bleu", ["max_order"], "cat-references/v1")
    assert row["signature"] == study.signature


def test_the_overview_and_the_deprecation_page_mention_the_study(study: ParameterStudy, manager, as_user) -> None:
    client, project = as_user(manager), study.project
    overview = client.get(reverse("annotation:project-detail", args=[project.slug])).content.decode()
    assert reverse("correlations:parameter-study-detail", args=[project.slug, study.pk]) in overview
    release = study.release
    deprecate = reverse("annotation:release-deprecate", args=[project.slug, release.reference_set.slug, release.number])
    page = " ".join(client.get(deprecate).content.decode().split())
    assert "0 studies and 1 parameter study that used it" in page


def test_changes_reject_get(study: ParameterStudy, manager, as_user) -> None:
    for name, arguments in CHANGING:
        assert as_user(manager).get(address(study, name, arguments)).status_code == 405, name


def test_the_report_shows_every_value_and_its_held_out_coefficient(study: ParameterStudy, viewer, as_user) -> None:
    page = as_user(viewer).get(address(study, "detail", {"pk": True})).content.decode()

    sweep = study.result["sweeps"][0]
    for point in sweep["points"]:
        assert f"{point['system']['pearson']['value']:.3f}".replace("-", "−") in page
        assert f"{point['segment']['kendall']['value']:.3f}".replace("-", "−") in page
    assert f"{sweep['halves']['judged_on']:.3f}".replace("-", "−") in page
    cross = sweep["cross"]
    assert "Chosen by cross-validation: " in page
    assert (
        f"On items that it was not chosen on, the chosen value reaches {cross['outside']:.3f}".replace("-", "−") in page
    )
    assert (MARK in page) is (sweep["best"] != sweep["chosen"])
    for expected in ("Choosing the best value here overfits.", "Few systems.", "Without one system", study.signature):
        assert expected in page


def test_the_front_page_has_the_best_value_with_its_range(study: ParameterStudy) -> None:
    (finding,) = parameter_findings(study.project, 1)
    sweep = study.result["sweeps"][0]
    best = sweep["points"][sweep["best"]]
    low, high = ends_in_words(*best["system"]["pearson"]["interval"])
    value = decimals(best["system"]["pearson"]["value"], 3)
    assert f"is best at {best['shown']}, with Pearson’s r {value} [" in finding.text
    assert f" [{low}, {high}] over systems (in brackets: the middle 95%" in finding.text
    assert (MARK in finding.sure) is (sweep["best"] != sweep["chosen"])


def test_tables_come_as_csv_and_json_with_the_stored_numbers(study: ParameterStudy, viewer, as_user) -> None:
    client = as_user(viewer)
    for table, n in (("max_order", 3), ("max_order-without", 5), ("max_order-systems", 15)):
        urls = [
            address(study, "download", {"pk": True, "table": table, "file_format": form}) for form in ("csv", "json")
        ]
        rows = list(csv.DictReader(io.StringIO(body(client.get(urls[0])).decode("utf-8-sig"))))
        data = json.loads(body(client.get(urls[1])))
        assert len(rows) == len(data) == n
        assert list(rows[0]) == list(data[0])
        if table == "max_order":
            sweep = study.result["sweeps"][0]
            tuned = [index for index, row in enumerate(rows) if row["tuned"] == MARK]
            assert tuned == [sweep["best"]] * (sweep["best"] != sweep["chosen"])
    first = json.loads(body(client.get(address(study, READING[-1][0], READING[-1][1] | {"file_format": "json"}))))[0]
    point = study.result["sweeps"][0]["points"][0]
    assert first["system_pearson"] == point["system"]["pearson"]["value"]
    assert [first["system_pearson_low"], first["system_pearson_high"]] == point["system"]["pearson"]["interval"]
    download = json.loads(
        body(client.get(address(study, "download", {"pk": True, "table": "study", "file_format": "json"})))
    )
    assert download["result"] == study.result


def test_charts_have_both_themes_and_can_be_downloaded(study: ParameterStudy, viewer, as_user) -> None:
    client = as_user(viewer)
    for level in ("system", "segment"):
        url = address(study, "figure", {"pk": True, "figure": f"max_order-{level}"})
        light, dark = (client.get(url, {"theme": theme}).json() for theme in ("light", "dark"))
        assert light != dark
        arguments = {"pk": True, "figure": f"max_order-{level}", "file_format": "svg"}
        assert client.get(address(study, "figure-download", arguments)).content.startswith(b"<svg")


def test_unknown_charts_and_tables_are_404(study: ParameterStudy, viewer, as_user) -> None:
    client = as_user(viewer)
    for name, arguments in (
        ("figure", {"figure": "beta-system"}),
        ("figure", {"figure": "max_order-paragraph"}),
        ("figure-download", {"figure": "max_order-system", "file_format": "gif"}),
        ("download", {"table": "beta", "file_format": "csv"}),
        ("download", {"table": "study", "file_format": "csv"}),
    ):
        assert client.get(address(study, name, {"pk": True} | arguments)).status_code == 404, arguments


def test_a_study_without_a_result_shows_its_state(world: World, manager, as_user, monkeypatch) -> None:
    study, _ = parameter_study_create(project=world.project, name="Orders", specification=SPECIFICATION, by=None)
    client = as_user(manager)

    assert "Next in line" in client.get(address(study, "detail", {"pk": True})).content.decode()
    for name, arguments in READING[3:]:
        assert client.get(address(study, name, arguments)).status_code == 404
    client.post(address(study, "cancel", {"pk": True}))
    study.refresh_from_db()
    assert study.state == JobState.CANCELLED
    monkeypatch.setattr("correlations.tasks.execute_parameter_study.delay", lambda _: None)
    client.post(address(study, "retry", {"pk": True}))
    study.refresh_from_db()
    assert study.state == JobState.QUEUED


def test_the_progress_fragment_refreshes_the_page_when_the_study_is_done(
    study: ParameterStudy, viewer, as_user
) -> None:
    response = as_user(viewer).get(address(study, "detail", {"pk": True}), headers={"HX-Request": "true"})
    assert response["HX-Refresh"] == "true"


def test_a_manager_starts_equal_studies_only_once(
    world: World, manager, as_user, django_capture_on_commit_callbacks, monkeypatch
) -> None:
    handed_out: list[int] = []
    monkeypatch.setattr("correlations.tasks.execute_parameter_study.delay", handed_out.append)
    url = reverse("correlations:parameter-study-create", args=[world.project.slug])

    with django_capture_on_commit_callbacks(execute=True):
        first = as_user(manager).post(url, form_data(world))
        repeated = as_user(manager).post(url, form_data(world, name="Another name"))

    study = ParameterStudy.objects.get()
    assert first.url == repeated.url == address(study, "detail", {"pk": True})
    assert handed_out == [study.pk]
    assert study.specification["sweeps"] == [
        {"parameter": "max_order", "values": [1, 2, 3, 4]},
        {"parameter": "tokenize", "values": ["13a", "char", "whitespace"]},
        {"parameter": "subset", "values": ["w>0", "original", "all"]},
    ]


def test_the_form_offers_the_parameters_of_the_chosen_metric(world: World, manager, as_user) -> None:
    model = trained_model(world)
    Item.objects.filter(pk=world.items[0].pk).update(split="dev")
    url = reverse("correlations:parameter-study-create", args=[world.project.slug])

    page = as_user(manager).get(url, {"release": world.release.pk, "metric": "am"})

    form = page.context["form"]
    assert [field.name for field, _ in form.parameter_rows] == ["own_k", "own_references", "own_model"]
    assert form["own_k"].value() == 4  # the model's dimensions
    assert form["sweep_k"].value() == "1, 2, 3, 4"
    assert form.fields["own_model"].choices == [(model.reference, "Cat space v1 · Cats")]
    assert ("dev", "dev") in form.fields["choose_on"].choices
    assert form.fields["own_references"].help_text.startswith("max: the best; mean: all alike;")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sweep_max_order": "1, nine"}, "found &#x27;nine&#x27;; accepted: an integer from 1 to 4"),
        ({"sweep_max_order": "", "sweep_tokenize": "", "sweep_subset": ""}, "No parameter has values to try"),
        ({"own_max_order": 9}, "max_order: found 9; accepted: an integer from 1 to 4"),
        ({"systems": ["Echo"]}, "accepted: three or more"),
        ({"subset": "w>9"}, "a weight from -1 to 1"),
        ({"sweep_subset": "w>9"}, "a weight from -1 to 1"),
    ],
)
def test_an_invalid_form_shows_the_accepted_values(
    world: World, manager, as_user, change: dict[str, object], message: str
) -> None:
    url = reverse("correlations:parameter-study-create", args=[world.project.slug])
    page = as_user(manager).post(url, form_data(world, **change))
    assert message in page.content.decode()
    assert not ParameterStudy.objects.exists()


def test_values_beyond_the_model_are_reported_at_their_fields(world: World, manager, as_user) -> None:
    model = trained_model(world)  # of 4 dimensions
    url = reverse("correlations:parameter-study-create", args=[world.project.slug])
    data = form_data(world, metric="am", own_k=7, own_references="max", own_model=model.reference, sweep_k="1, 9")
    page = as_user(manager).post(url, data)
    errors_by_field = {name: list(errors) for name, errors in page.context["form"].errors.items()}
    accepted = "accepted: up to 4, which is what the trained model has"
    assert errors_by_field == {"own_k": [f"found 7; {accepted}"], "sweep_k": [f"found 9; {accepted}"]}
    assert not ParameterStudy.objects.exists()


def test_the_command_computes_and_prints(world: World, capsys) -> None:
    flags = [
        "--project",
        world.project.slug,
        "--release",
        "cat-references",
        "--campaign",
        "Output ratings",
        "--campaign",
        "Reference ratings",
        "--systems",
        *SPECIFICATION["systems"],
        "--bootstrap",
        "0",
        "--metric",
        "chrf:beta=2",
    ]
    call_command("parameter_study", *flags, "--sweep", "beta=1..3", "--json")
    output = json.loads(capsys.readouterr().out)
    assert [point["value"] for point in output["result"]["sweeps"][0]["points"]] == [1, 2, 3]

    call_command("parameter_study", *flags, "--sweep", "beta=1..3")
    printed = capsys.readouterr().out
    assert "How many times" in printed or "beta" in printed
    assert "in use" in printed

    with pytest.raises(CommandError, match="found parameter 'gamma'"):
        call_command("parameter_study", *flags, "--sweep", "gamma")


def test_the_api_creates_equal_studies_once_and_returns_the_result(
    study: ParameterStudy, viewer, manager, as_user
) -> None:
    url = f"/api/v1/projects/{study.project.slug}/parameter-studies/"
    body_data = {"name": "Again", "specification": SPECIFICATION}

    repeated = as_user(manager).post(url, body_data, content_type="application/json")
    assert (repeated.status_code, repeated.json()["id"]) == (200, study.pk)
    assert as_user(viewer).post(url, body_data, content_type="application/json").status_code == 403
    assert as_user(viewer).get(f"{url}{study.pk}/result/").json() == study.result
    wrong = body_data | {"specification": SPECIFICATION | {"metric": "bloo"}}
    refused = as_user(manager).post(url, wrong, content_type="application/json")
    assert refused.status_code == 400
    assert "bloo" in json.dumps(refused.json())
