"""One request over several data sets: a study of each, pooled values and ranks, on the page, as files, by the API."""

import copy
import io
import json
import math
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command
from django.http import QueryDict
from django.urls import reverse

from annotation.models import Dataset, JobState, Project
from correlations.documents.model import Grid
from correlations.forms.joint import JointStudyForm
from correlations.forms.studies import CHOSEN_BELOW
from correlations.models import JointStudy, Study
from correlations.overview import joint_findings
from correlations.selectors.compared import Compared, compared_studies
from correlations.selectors.compared_words import plain
from correlations.selectors.joint import joint_comparison, printed_joint_report
from correlations.services.execution import study_execute
from correlations.services.reports import joint_report_file
from correlations.specification import Specification
from metrics.models import ScoreRun
from metrics.scoring.metric import Metric
from metrics.scoring.settings import departures
from metrics.selectors.usual import UsualSettings
from metrics.services.score_imports import ImportOptions, score_file_import
from tests.annotation.worlds.rated import make_response
from tests.correlations.two_datasets import joint_specification, joint_study, renamed_world
from tests.metrics.world import HYPOTHESES, World, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def specification(project: Project) -> dict:
    """A specification over two data sets, which are alike but for their size."""
    return joint_specification(project)


def test_one_specification_gives_a_study_of_each_data_set_and_what_they_say_together(
    specification: dict, manager, as_user, project: Project
) -> None:
    client = as_user(manager)
    form = reverse("correlations:study-from-specification", args=[project.slug])
    wrong = specification | {"datasets": [*specification["datasets"], specification["datasets"][0]]}
    answer = client.post(form, {"text": json.dumps(wrong), "name": "Both"}).content.decode()
    assert "found Cats twice" in answer
    unknown = specification | {"datasets": [{"campaigns": ["Odd"], "systems": ["A", "B"]}] * 2}
    assert "datasets.0.campaigns: found" in client.post(form, {"text": json.dumps(unknown)}).content.decode()
    assert not Study.objects.exists()  # whole, or not at all

    page = client.post(form, {"text": json.dumps(specification), "name": "Both"})["Location"]
    joint = JointStudy.objects.get()
    assert sorted(study.specification["unit_size"] for study in joint.studies.all()) == [1, 2]
    assert "Once all are done" in client.get(page, headers={"HX-Request": "true"}).content.decode()
    for study in joint.studies.all():
        study_execute(study_id=study.pk)
    assert client.get(page, headers={"HX-Request": "true"})["HX-Refresh"] == "true"

    shown = client.get(page).content.decode()
    studies = list(joint.studies.order_by("dataset__name"))
    assert {study.state for study in studies} == {JobState.DONE}
    together = plain(joint_comparison(joint))
    rows = [(row["pooled"], row["average_rank"]) for row in together["rows"]]
    assert rows == [(row["pooled"], row["average_rank"]) for row in plain(compared_studies(studies))["rows"]]
    assert together["sentence"] in shown
    assert "Pooled" in shown
    assert "Both" in client.get(reverse("correlations:study-list", args=[project.slug])).content.decode()
    report = reverse("correlations:study-joint-report", args=[project.slug, joint.pk, "json"])
    document = json.loads(client.get(report).content)
    assert document["result"] == json.loads(json.dumps(together))
    # What it names gives the same study again; so do the data sets in another order.
    assert client.post(form, {"text": json.dumps(document["specification"])})["Location"] == page
    swapped = specification | {"datasets": specification["datasets"][::-1]}
    assert client.post(form, {"text": json.dumps(swapped)})["Location"] == page
    assert client.get(report.replace(".json", ".pdf")).content.startswith(b"%PDF-")
    with zipfile.ZipFile(io.BytesIO(client.get(report.replace(".json", ".zip")).content)) as archive:
        assert {"tables/by-data-set.tex", "figures/by-data-set.pdf"} <= set(archive.namelist())
    assert together["sentence"] in client.get(report.replace(".json", ".html")).content.decode()

    compared = joint_comparison(joint)
    assert compared is not None
    grid = printed_joint_report(joint, repeated(compared, 4)).sections[0].blocks[-1]
    assert isinstance(grid, Grid)
    assert [column.label for column in grid.columns] == ["Metric", "References", "Data set", "Value"]
    assert [row[2:] for row in grid.rows][9] == ("Average rank", "1.5")
    assert grid.caption.endswith("by data set, and the average rank among the rows.")

    api = f"/api/v1/projects/{project.slug}/joint-studies/"
    sent = {"name": "Both again", "specification": specification}
    assert client.post(api, json.dumps(sent), content_type="application/json").json()["id"] == joint.pk
    assert client.get(f"{api}{joint.pk}/comparison/").json() == json.loads(json.dumps(together))
    assert json.loads(client.get(f"{api}{joint.pk}/report/").content) == document
    assert client.get(f"{api}{joint.pk}/report.pdf/").content.startswith(b"%PDF-")


def of_another_dataset(study: Study, number: int) -> Study:
    """Return a copy of a study as if it were of another data set; it is not stored."""
    other, dataset = copy.copy(study), copy.copy(study.dataset)
    dataset.pk, dataset.name = dataset.pk + 1000 * number, f"{dataset.name} {number + 1}"
    other.dataset = dataset
    return other


def repeated(compared: Compared, times: int) -> Compared:
    """Return the comparison as if there were several times the data sets."""
    lines = [replace(line, cells=list(line.cells) * times) for line in compared.lines]
    studies = [of_another_dataset(study, number) for number in range(times) for study in compared.studies]
    return replace(compared, studies=studies, results=list(compared.results) * times, lines=lines)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex: Debian's texlive-latex-recommended has one")
@pytest.mark.parametrize("times", [1, 4])
def test_the_latex_compiles(project: Project, tmp_path: Path, times: int) -> None:
    """Of two data sets, and as if there were eight."""
    joint = joint_study(project)
    compared = joint_comparison(joint)
    assert compared is not None
    compared = repeated(compared, times)
    with zipfile.ZipFile(io.BytesIO(joint_report_file(joint, compared, "zip"))) as archive:
        archive.extractall(tmp_path)
    packages, body = "\\usepackage{array,booktabs}", "\\input{tables/by-data-set}"
    paper = f"\\documentclass{{article}}{packages}\\begin{{document}}{body}\\end{{document}}"
    (tmp_path / "paper.tex").write_text(paper)
    for name in ("report", "paper"):
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert ended.returncode == 0, ended.stdout.decode(errors="replace")[-2000:]
    overfull = re.findall(r"Overfull \\hbox \((\d+)", (tmp_path / "report.log").read_text(errors="replace"))
    assert overfull == []


def test_the_front_page_has_what_the_studies_say_together(viewer, as_user, project: Project) -> None:
    joint = joint_study(project)
    together = plain(joint_comparison(joint))
    (finding,) = joint_findings(project, 3)
    pooled = [(row["pooled"]["value"], *row["pooled"]["interval"]) for row in together["rows"]]
    sbleu, bleu = (f"{value:.2f}, 95% interval [{low:.2f}, {high:.2f}]" for value, low, high in pooled)
    assert finding.text == (  # both share the first rank
        f"{together['sentence']} Pooled over the data sets, Spearman’s ρ with the raters is {sbleu}, for sBLEU and "
        f"{bleu}, for BLEU."
    )
    # Nemenyi's critical difference of 2 rows over 2 data sets (Demšar 2006, section 3.2.2).
    nearer = 1.960 * math.sqrt(2 * 3 / (6 * 2))
    assert finding.sure.startswith(f"Average ranks nearer than {nearer:.2f} cannot be told apart (Nemenyi).")
    page = as_user(viewer).get(reverse("annotation:project-detail", args=[project.slug])).content.decode()
    assert finding.url in page
    assert "Pooled over the data sets, Spearman’s ρ with the raters is 0." in page

    Study.objects.filter(pk=joint.studies.first().pk).update(state=JobState.QUEUED, finished_at=None)
    assert not list(joint_findings(project, 3))


def test_the_form_ticks_data_sets_and_metrics_and_errors_name_the_data_set(
    specification: dict, manager, as_user, project: Project
) -> None:
    client, address = as_user(manager), reverse("correlations:study-joint-start", args=[project.slug])
    assert address in client.get(reverse("correlations:study-list", args=[project.slug])).content.decode()
    assert client.get(address).content.decode().count("Ratings, systems and weights of") == 2
    form = JointStudyForm(None, project=project)
    cats, old = form.parts
    data = {
        bound.html_name: bound.value()
        for bound in [*form, *cats, *old]
        if bound.value() not in (None, False)  # as a browser sends what it is shown
    }
    data |= {"name": "Both", "metrics": ["bleu", "sbleu"], "assignments": 3, "bootstrap": 20, "unit_size": 2}
    data |= {"tokenize": "whitespace"}  # as a specification without one has it; usual are 13a, and BLEU smoothed
    del data["sweeps"]

    def answer(**changes: object) -> str:
        return client.post(address, data | {cats["used"].html_name: "on"} | changes).content.decode()

    assert "Tick two data sets or more, at most" in answer()
    both = {old["used"].html_name: "on"}
    without = {**both, old["systems"].html_name: []}
    assert "Old cats: see the marked fields." in answer(**without)
    assert "Choose at least one metric." in answer(**both, metrics=[])
    weights = {**both, "metrics": ["delta_bleu"], old["references"].html_name: "own"}
    assert "Old cats: ΔBLEU reads the weights of references" in answer(**weights)
    alone = {**both, old["systems"].html_name: ["Echo"]}
    page = answer(**alone)
    assert "Old cats: see the marked fields." in page
    assert "found 1; accepted: two or more, since pairs are compared" in page
    assert not Study.objects.exists()

    location = client.post(address, data | {cats["used"].html_name: "on"} | both)["Location"]
    joint = JointStudy.objects.get()
    assert location.endswith(f"/over/{joint.pk}/")
    del specification["datasets"][1]["unit_size"]
    json_form = reverse("correlations:study-from-specification", args=[project.slug])
    assert client.post(json_form, {"text": json.dumps(specification), "name": "Both"})["Location"] == location


def test_metrics_have_their_usual_settings_as_in_the_form_of_one_data_set(
    specification: dict, manager, as_user, project: Project
) -> None:
    """Without weights BLEU's and chrF's are sacrebleu's, without departures; with weights all have ΔBLEU's order."""
    for dataset in project.datasets.all():
        make_response(dataset.items.first(), "A cat sat on the roof.", "human")  # a reference of the data set itself
    client, address = as_user(manager), reverse("correlations:study-joint-start", args=[project.slug])
    usual = "The usual settings, the same on all data sets: order"
    page = client.get(address).content.decode()
    assert f"{usual} 2, 13a tokens, lowercase (order and case as in Galley et al., 2015)" in page
    assert 'href="?references=own"' in page
    page = client.get(f"{address}?references=own").content.decode()
    assert f"{usual} 4, 13a tokens, case kept (as in sacreBLEU)" in page
    assert 'href="?references=own"' not in page
    names = ["bleu", "sbleu", "chrf", "rouge_l"]

    def filled(*, plain: bool, **changes: object) -> JointStudyForm:
        first = JointStudyForm(None, project=project, plain=plain)
        bounds = [*first, *(bound for part in first.parts for bound in part)]
        data = QueryDict(mutable=True)
        values = {bound.html_name: bound.value() for bound in bounds} | {"name": "Both", "metrics": names}
        values |= {part["used"].html_name: "on" for part in first.parts} | changes
        for name, value in values.items():
            data.setlist(name, value if isinstance(value, list) else [] if value in (None, False) else [value])
        return JointStudyForm(data, project=project, plain=plain)

    def found(*, plain: bool, **changes: object) -> dict[str, Metric]:
        form = filled(plain=plain, **changes)
        assert form.is_valid(), form.problems
        given = form.arguments()["specification"]
        parts = given.pop("datasets")
        cats, old = (Specification.from_mapping(given | part) for part in parts)
        assert cats.metrics == old.metrics
        return {metric.name: metric for metric in cats.built_metrics()}

    plain = UsualSettings("13a", plain=True)
    own = found(plain=True)
    assert {name: own[name].parameters() for name in names} == {name: plain.parameters(name) for name in names}
    assert [departures(own[name].signature()) for name in names] == [[], [], [], []]
    assert [own[name].lowercase for name in names] == [False, False, False, True]
    weighted = UsualSettings("13a", plain=False)
    both = found(plain=False)
    assert {name: both[name].parameters() for name in names} == {name: weighted.parameters(name) for name in names}
    changed = found(plain=True, tokenize="intl")
    assert {changed[name].tokenize for name in names if name != "chrf"} == {"intl"}
    assert changed["bleu"].smoothing == "exp", "the order, the tokeniser and the case alone hold for all"

    # A form in which no weights are left does not call the order and case of weighted metrics usual.
    cats, old = filled(plain=False).parts
    without = {part["references"].html_name: "own" for part in (cats, old)}
    assert filled(plain=False, **without).settings_note == CHOSEN_BELOW
    note = filled(plain=False, **without, order=4, lowercase=False).settings_note
    assert note.startswith(f"{usual} 4, 13a tokens, case kept (as in sacreBLEU)")
    # One tokeniser for all ticked data sets, or spaces where these differ.
    Dataset.objects.filter(name="Old cats").update(language="ja")
    assert filled(plain=False).usual.tokenize == "whitespace"
    assert filled(plain=False, **{old["used"].html_name: None}).usual.tokenize == "13a"


def test_a_comparison_is_kept_and_the_command_runs_all(
    specification: dict, manager, as_user, project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, report = tmp_path / "both.json", tmp_path / "both-report.json"
    path.write_text(json.dumps(specification))
    call_command("study", str(path), project=project.slug, report=[str(report)])
    printed = capsys.readouterr().out
    joint = JointStudy.objects.get()
    assert "pooled" in printed
    assert json.loads(report.read_text())["signature"] == joint.signature
    call_command("study", "verify", str(report))
    assert capsys.readouterr().out == "equal\n"

    client, keep = as_user(manager), reverse("correlations:study-joint-create", args=[project.slug])
    pks = list(joint.studies.values_list("pk", flat=True))
    compare = client.get(reverse("correlations:study-compare", args=[project.slug]), {"study": pks}).content.decode()
    assert keep in compare
    assert client.post(keep, {"study": pks, "name": "Mine"})["Location"].endswith(f"/over/{joint.pk}/")
    client.post(keep, {"study": pks[:1], "name": "One"})
    assert JointStudy.objects.count() == 1


def import_scores(world: World, name: str, *, sign: float = 1.0, shift: float = 0.0, n_items: int = 40) -> ScoreRun:
    """Import the raters' own means as scores, turned if low ones are the better."""
    rows = [
        f"{system},item-{index},{sign * (sum(ratings) / len(ratings)) + shift}"
        for (system, index), ratings in world.judgements.items()
        if system in HYPOTHESES and index < n_items
    ]
    options = ImportOptions(name=name, lower_is_better=sign < 0)
    content = "\n".join(["system,item,score", *rows]).encode()
    ((run, _),) = score_file_import(dataset=world.dataset, by=None, filename="s.csv", content=content, options=options)
    return run


def test_imported_scores_of_one_name_are_one_metric_over_the_data_sets(manager, as_user, project: Project) -> None:
    """Scores that are the raters' means agree with them by 1, on each data set and pooled, whatever their direction."""
    old_world = renamed_world(project)
    old = import_scores(old_world, "Judge", sign=-1.0)
    world = make_world(project)
    earlier = import_scores(world, "Judge", shift=0.5, n_items=30)
    newest, alone = import_scores(world, "Judge"), import_scores(world, "Other judge", shift=1.0)

    client, address = as_user(manager), reverse("correlations:study-joint-start", args=[project.slug])
    form = JointStudyForm(None, project=project)
    ticked = {part.dataset.name: part["scores"].value() for part in form.parts}
    # Of two imports of one name the newest is ticked.
    assert ticked == {"Cats": [f"run:{alone.number}", f"run:{newest.number}"], "Old cats": [f"run:{old.number}"]}
    bounds = [*form, *(bound for part in form.parts for bound in part)]
    data = {bound.html_name: bound.value() for bound in bounds if bound.value() not in (None, False)}
    data |= {part["used"].html_name: "on" for part in form.parts}
    data |= {"name": "Both", "metrics": [], "assignments": 3, "bootstrap": 20, "unit_size": 2}
    del data["sweeps"]
    cats = next(part for part in form.parts if part.dataset.name == "Cats")
    twice = {cats["scores"].html_name: [f"run:{newest.number}", f"run:{earlier.number}"]}
    page = client.post(address, data | twice).content.decode()
    assert "found two imports called Judge; accepted: one of each name, as they are one metric over data sets" in page
    assert not Study.objects.exists()

    assert client.post(address, data)["Location"].endswith("/")
    joint = JointStudy.objects.get()
    for study in joint.studies.all():
        study_execute(study_id=study.pk)
    page = client.get(reverse("correlations:study-joint-detail", args=[project.slug, joint.pk])).content.decode()
    together = plain(joint_comparison(joint))
    assert together["sentence"] in page
    judge, other = together["rows"]
    assert (judge["metric"], other["metric"]) == ("Judge", "Other judge")
    # Units of equal means are ties for the raters, but sums of scores may differ in their last digits.
    assert [cell["value"] for cell in judge["of_studies"]] == pytest.approx([1, 1], abs=1e-3)
    assert judge["pooled"]["value"] == pytest.approx(1, abs=1e-3)
    assert other["pooled"] is None

    # The API names the runs of each data set; what all share is beside them.
    api, parts = f"/api/v1/projects/{project.slug}/joint-studies/", joint.specification["datasets"]
    runs = {"Cats": [alone, newest], "Old cats": [old]}
    names = [
        joint.studies.get(release__reference_set__slug=part["release"].split("/")[0]).dataset.name for part in parts
    ]
    datasets = [
        part | {"metrics": [{"run": run.number} for run in runs[name]]} for part, name in zip(parts, names, strict=True)
    ]
    sent = {"name": "By number", "specification": joint.specification | {"datasets": datasets}}
    answer = client.post(api, json.dumps(sent), content_type="application/json")
    assert (answer.status_code, answer.json()["id"]) == (200, joint.pk)
    datasets[names.index("Cats")]["metrics"] = [{"run": newest.number}, {"run": earlier.number}]
    answer = client.post(api, json.dumps(sent), content_type="application/json")
    assert answer.status_code == 400
    assert "found two imports called Judge" in answer.content.decode()
