"""Choosing metrics for a study: offered and missing ones, parameters; reports of many metrics."""

from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.models import Item
from correlations.charts.sweeps import sweep_chart
from correlations.models import Study
from correlations.selectors.reports import comparisons_worth_showing, figure, metrics_in_colour
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from tests.annotation.worlds.rated import make_dataset, make_item, make_response
from tests.correlations.services.test_any_metric import make_imported_run
from tests.correlations.views.test_pages import form_data
from tests.metrics.trained import models_dir, trained_model  # noqa: F401
from tests.metrics.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
MANY = ["bleu", "sbleu", "delta_bleu", "ibleu", "chrf", "ter", "rouge_l", "cider", "length"]


def create_url(world: World) -> str:
    return reverse("correlations:study-create", args=[world.project.slug])


def test_unavailable_metrics_have_a_reason(world: World, manager, as_user) -> None:
    run = make_imported_run(world)
    trained_model(world)

    form = as_user(manager).get(create_url(world)).context["form"]

    missing = {choice.value: choice.missing for group in form.offered.values() for choice in group}
    assert missing["am"] == ""
    assert missing["fm"] == "This project has no n-gram model yet."
    assert "scores all outputs of a system together" in missing["distinct"]
    assert missing[f"run:{run.number}"] == ""
    assert next(iter(form.offered)) == "Scored elsewhere"
    offered = [value for value, _ in form.fields["metrics"].choices]
    assert {"am", f"run:{run.number}"} <= set(offered)
    assert not {"fm", "distinct", "external"} & set(offered)


def test_metrics_that_read_references_are_no_choice_without_any(project, manager, as_user) -> None:
    dataset = make_dataset(project)
    make_response(make_item(dataset, "i0"), "Yes.", "A system")
    url = reverse("correlations:study-create", args=[project.slug])

    form = as_user(manager).get(f"{url}?dataset={dataset.pk}").context["form"]
    missing = {choice.value: choice.missing for group in form.offered.values() for choice in group}
    assert missing["bleu"] == "It reads references, and this data set has none: import some, or choose a release."
    assert missing["length"] == ""
    assert form.metrics_chosen == []

    make_response(Item.objects.get(), "No.", "human")
    form = as_user(manager).get(f"{url}?dataset={dataset.pk}").context["form"]
    assert {"bleu", "sbleu"} <= set(form.metrics_chosen)


def test_metrics_are_chosen_by_checkbox_line_and_run(
    world: World, manager, as_user, django_capture_on_commit_callbacks, monkeypatch
) -> None:
    monkeypatch.setattr("correlations.tasks.execute.delay", lambda _: None)
    run = make_imported_run(world)
    data = form_data(world, metrics=["bleu", f"run:{run.number}"], metric_lines="bleu:order=4\n\n chrf:nw=2 ")

    with django_capture_on_commit_callbacks(execute=True):
        as_user(manager).post(create_url(world), data)

    chosen = Study.objects.get().specification["metrics"]
    assert [metric["name"] for metric in chosen] == ["bleu", "external", "bleu", "chrf"]
    assert (chosen[0]["parameters"]["max_order"], chosen[2]["parameters"]["max_order"]) == (2, 4)
    assert chosen[1]["parameters"] == run.parameters
    assert chosen[3]["parameters"]["word_order"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": [], "metric_lines": ""}, "Choose at least one metric."),
        ({"metric_lines": "bloo"}, "bloo: metric: found &#x27;bloo&#x27;; accepted"),
        ({"metric_lines": "chrf:nw=9"}, "word_order: found 9; accepted: an integer from 0 to 4"),
        ({"metrics": ["distinct"]}, "distinct is not one of the available choices"),
    ],
)
def test_invalid_choices_are_reported(world: World, manager, as_user, change: dict[str, object], message: str) -> None:
    page = as_user(manager).post(create_url(world), form_data(world, **change))

    assert message in page.content.decode()
    assert not Study.objects.exists()


def studied(world: World, **changes: object) -> Study:
    specification = world.specification(assignments=2, bootstrap=4, **changes)
    study, _ = study_create(project=world.project, name="Many", specification=specification, by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.result, study.error
    return study


def test_a_report_of_many_metrics_shows_comparisons_with_the_best_and_six_colours(
    world: World, viewer, as_user
) -> None:
    many = studied(world, metrics=MANY, subsets=["original", "all"], sweeps=True)
    result = many.read_result()
    assert len(result.rows) == 2 * 8 + 1
    assert len(result.comparisons) == 2 * 36

    shown = [entry for entry, _, _ in comparisons_worth_showing(result)]
    assert len(shown) == 2 * 8
    for label in ("single", "all"):
        rows = [row for row in result.rows if row.subset_label in (label, "none") and result.lead_value(row)]
        best = max(rows, key=result.lead_value).label
        assert all(best in (entry.first, entry.second) for entry in shown if entry.subset_label == label)
    left_out = next(entry for entry in result.comparisons if entry not in shown)
    found = tuple(replace(entry, p_holm=0.01) if entry is left_out else entry for entry in result.comparisons)
    assert any(entry.p_holm == 0.01 for entry, *_ in comparisons_worth_showing(replace(result, comparisons=found)))
    assert len(metrics_in_colour(result)) == 6
    for name in ("threshold", "unit_size", "order"):
        assert figure(result, name, theme="dark") is not None
    page = as_user(viewer).get(reverse("correlations:study-detail", args=[many.project.slug, many.pk]))
    html = page.content.decode()
    assert html.count("table-cards is-tight table-whole") == html.count("table-whole") == 5  # a phone shows cards
    assert "of which this table shows the significant ones, those with the best metric" in page.content.decode()
    assert "its coefficients are of the score with its sign turned" in page.content.decode()
    for row in (number for number, row in enumerate(result.rows) if row.subset_label != "single"):
        url = reverse("correlations:study-row", args=[many.project.slug, many.pk, row])
        assert as_user(viewer).get(url).status_code == 200


def test_a_pair_agrees_on_a_negated_metric_if_the_lower_score_is_rated_higher(
    world: World, viewer, as_user, monkeypatch
) -> None:
    monkeypatch.setattr("correlations.views.metrics.certain_pairs", lambda _: None)  # of three raters none is
    study = studied(world, metrics=["ter"], subsets=["all"])
    url = reverse("correlations:study-row", args=[study.project.slug, study.pk, 0])
    for _, each, agree in as_user(viewer).get(url).context["pairs"]:
        assert (agree == "agree") == (each.score * each.rating < 0)


def test_of_many_lines_those_without_colour_have_no_label() -> None:
    series = {f"M{n}": [0.1 * n - 0.5, 0.1] for n in range(11)}

    def named(series: dict[str, list[float]]) -> set[str]:
        spec = sweep_chart([1, 2], series, kind="order", coefficient="Spearman’s ρ", in_colour=["M1", "M2"])
        names = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "text")
        return {row["metric"] for row in spec["datasets"][names["data"]["name"]]}

    assert named(series) == {"M1", "M2"}
    del series["M10"]
    assert named(series) == set(series), "ten names fit"
    for wrong in (["M10"], list(series)):
        with pytest.raises(ValueError, match=r"in_colour names|at most 6"):
            sweep_chart([1, 2], series, kind="order", coefficient="Spearman’s ρ", in_colour=wrong)


def test_the_command_accepts_metrics_with_parameters_and_runs(world: World, capsys) -> None:
    flags = [
        "--project",
        world.project.slug,
        "--release",
        "cat-references",
        "--campaign",
        "Output ratings",
        "--systems",
        "Echo",
        "Parrot",
        "Quill",
        "--subsets",
        "all",
        "--assignments",
        "2",
        "--bootstrap",
        "0",
        "--no-sweeps",
        "--unit-size",
        "8",
    ]
    call_command("study", *flags, "--metrics", "bleu", "bleu:order=4", f"run:{make_imported_run(world).number}")
    printed = capsys.readouterr().out
    for label in ("BLEU (order 2)", "BLEU (order 4)", "Oracle"):
        assert label in printed
    for wrong, message in (("chrf:x=1", "found 'x=1'"), ("run:999", "found run 999"), ("bloo", "found 'bloo'")):
        with pytest.raises(CommandError, match=message):
            call_command("study", *flags, "--metrics", wrong)
