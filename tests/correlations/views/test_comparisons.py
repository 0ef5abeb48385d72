"""Studies side by side: of one data set, and of several."""

import csv
import io
import json
from copy import deepcopy
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from scipy import stats

from annotation.models import Dataset, JobState
from correlations.models import Study
from correlations.selectors import compared_words as words
from correlations.selectors.compared import compared_studies
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from tests.metrics.world import World

pytestmark = pytest.mark.django_db
SMALL = {"metrics": ["bleu", "sbleu", "delta_bleu"], "subsets": ["all"], "assignments": 3, "bootstrap": 20}


@pytest.fixture
def study(world: World) -> Study:
    specification = world.specification(**SMALL, unit_size=2)
    study, _ = study_create(project=world.project, name="Cats", specification=specification, by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return study


def made_like(study: Study, name: str, *, of: str = "", values: tuple[float, ...] = (), **changes: Any) -> Study:
    """Store a study as if it had been computed: with these coefficients, of another data set or with other settings."""
    result = deepcopy(study.result)
    for row, value in zip(result["rows"], values, strict=False):
        row["rho"] |= {"value": value, "over_items": [value - 0.1, value + 0.1]}
    dataset = study.dataset
    if of:
        dataset = Dataset.objects.create(project=study.project, name=of, slug=of.lower())
    return Study.objects.create(
        project=study.project,
        dataset=dataset,
        release=study.release,
        name=name,
        signature=name,
        specification=study.specification | changes,
        result=result,
        state=JobState.DONE,
        finished_at=study.finished_at,
    )


def compare_url(*studies: Study, name: str = "study-compare", **rest: str) -> str:
    here = reverse(f"correlations:{name}", kwargs={"project_slug": "chit-chat"} | rest)
    return here + "?" + "&".join(f"study={study.pk}" for study in studies)


def body(response: Any) -> str:
    return (b"".join(response.streaming_content) if response.streaming else response.content).decode()


def test_studies_of_three_data_sets_are_pooled_and_ranked(study: Study, viewer, as_user) -> None:
    values = [(0.30, 0.40, 0.50), (0.35, 0.30, 0.55), (0.45, 0.20, 0.40)]
    studies = [
        made_like(study, f"On {name}", of=name, values=each)
        for name, each in zip(("Dogs", "Birds", "Fish"), values, strict=True)
    ]
    expected = [stats.rankdata([-value for value in each]) for each in values]
    means = [sum(ranks) / 3 for ranks in zip(*expected, strict=True)]

    page = body(as_user(viewer).get(compare_url(*studies)))

    assert f"Over 3 data sets ΔBLEU ranks first on average ({min(means):.1f}); it leads on 2 of them." in page
    assert "Friedman’s test" in page
    assert "different data sets, so their intervals are taken for independent" in page
    whole = json.loads(
        body(as_user(viewer).get(compare_url(*studies, name="study-compare-download", file_format="json")))
    )
    by_metric = {row["metric"].split(" ")[0]: row for row in whole["rows"]}
    assert [by_metric[name]["average_rank"] for name in ("BLEU", "sBLEU", "ΔBLEU")] == pytest.approx(means)
    assert whole["ranks"]["p"] == pytest.approx(stats.friedmanchisquare(*zip(*values, strict=True)).pvalue)
    low, high = by_metric["ΔBLEU"]["pooled"]["interval"]
    assert min(each[2] for each in values) < low < by_metric["ΔBLEU"]["pooled"]["value"] < high < 0.6
    tex = body(as_user(viewer).get(compare_url(*studies, name="study-compare-download", file_format="tex")))
    assert r"$\Delta$BLEU" in tex
    assert tex.count(r"\\") == 4
    chart = as_user(viewer).get(compare_url(*studies, name="study-compare-chart", file_format="json")).json()
    assert "Pooled" in json.dumps(chart)


def test_two_studies_of_one_data_set_say_what_differs_and_what_is_assumed(study: Study, viewer, as_user) -> None:
    smaller = made_like(study, "Small units", values=(0.2, 0.25, 0.3))
    other = made_like(study, "Larger units", values=(0.1, 0.2, -0.9), unit_size=4, seed=8)

    page = body(as_user(viewer).get(compare_url(smaller, other)))

    assert "Studies of one data set share items" in page
    assert "1 of 3 rows differs by more than the intervals allow; the largest difference is that of ΔBLEU" in page
    changed = page.split('id="settings"')[1].split("</summary>")[0]
    assert "Unit size" in changed
    assert "Seed of the random numbers" in changed
    assert "Tokeniser" not in changed
    assert "Pooled" not in page.split("<tbody>")[0]
    table = body(as_user(viewer).get(compare_url(smaller, other, name="study-compare-download", file_format="csv")))
    rows = list(csv.DictReader(io.StringIO(table.lstrip("\ufeff"))))
    assert [row["study"] for row in rows[:2]] == [str(smaller.pk), str(other.pk)]
    assert {row["pooled"] for row in rows} == {""}
    api = "/api/v1/projects/chit-chat/studies/comparison/"
    answer = as_user(viewer).get(f"{api}?study={smaller.pk}&study={other.pk}").json()
    assert answer["rows"][0]["difference"]["value"] == pytest.approx(float(rows[0]["difference"]))
    assert (answer["independent"], answer["rows"][0]["pooled"]) == (False, None)
    for wrong, field in ((f"?study={smaller.pk}&study=x", "study"), ("?study=0", "study"), ("?coefficient=x", None)):
        refusal = as_user(viewer).get(api + wrong)
        assert refusal.status_code == 400
        assert (field or "coefficient") in refusal.json()["fields"]


def test_rows_meet_by_settings_and_references_and_few_units_are_neither_ranked_nor_pooled(study: Study) -> None:
    other = made_like(study, "Elsewhere", of="Dogs")
    rows = other.result["rows"]
    rows[0]["signature"] = rows[0]["signature"].replace("|version:", "|version:9.")
    rows[2]["signature"] = rows[2]["signature"].replace("weights:", "weights:other-")
    rows[1]["signature"] = rows[1]["signature"].replace("order:2", "order:4")

    compared = compared_studies([study, other])

    assert compared is not None
    assert {line.label.split(" ")[0] for line in compared.shared} == {"BLEU", "ΔBLEU"}
    assert len(compared.only_some) == 2
    assert all(line.difference and line.difference.value == 0 for line in compared.shared)
    assert "none differs" in words.headline(compared)
    assert compared_studies([study, other], "pearson") is None

    for row in rows:
        row["few_units"] = "3 units"
    compared = compared_studies([study, other], "kendall")

    assert compared is not None
    assert (compared.ranked, compared.pools) == (None, False)
    assert words.figure(compared, theme="light") is not None
    assert words.headline(compared) == "No row of one study is in the other, so nothing is compared."


def test_studies_are_chosen_from_the_list_from_a_study_or_by_a_command(study: Study, manager, as_user, capsys) -> None:
    client = as_user(manager)
    listed = reverse("correlations:study-list", args=["chit-chat"])
    assert "Compare the ticked studies" not in body(client.get(listed))
    assert "Too few finished studies" in body(client.get(compare_url(study)))
    other = made_like(study, "On dogs", of="Dogs", values=(0.3, 0.2, 0.1))
    assert "Compare the ticked studies" in body(client.get(listed))
    assert "Tick one more at least" in body(client.get(compare_url(study)))
    assert compare_url(study) in body(client.get(reverse("correlations:study-detail", args=["chit-chat", study.pk])))
    assert client.get(compare_url(study, name="study-compare-download", file_format="csv")).status_code == 404

    call_command("compare_studies", str(study.pk), str(other.pk), project="chit-chat")
    text = capsys.readouterr().out
    assert "Over 2 data sets" in text
    assert "pooled" in text
    call_command("compare_studies", str(study.pk), str(other.pk), project="chit-chat", json=True)
    assert len(json.loads(capsys.readouterr().out)["studies"]) == 2
    with pytest.raises(CommandError, match="accepted: two or more of"):
        call_command("compare_studies", str(study.pk), "0", project="chit-chat")


def test_a_study_of_another_data_set_begins_with_the_same_settings(
    study: Study, world: World, manager, as_user
) -> None:
    study.specification["metrics"].append({"name": "chrf", "parameters": {"beta": 3.0}})
    study.specification |= {"unit_size": 5, "subsets": ["original", "w>0.5"]}
    study.save(update_fields=["specification"])
    create = reverse("correlations:study-create", args=["chit-chat"])

    page = as_user(manager).get(f"{create}?dataset={world.dataset.pk}&like={study.pk}")

    form = page.context["form"]
    assert (form["unit_size"].value(), form["subsets"].value()) == (5, "original, w>0.5")
    assert set(form["metrics"].value()) == set()  # they read references, and this data set has none
    assert "chrf:beta=3.0" in form["metric_lines"].value()
    assert "With the settings of “Cats”" in body(page)
