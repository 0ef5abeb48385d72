"""The form of a new run, and the list of all metrics: for any metric, with what the project has."""

import re

import pytest
from django.urls import reverse

from annotation.models import JobState, Project, ResponseSource, SourceKind, System
from metrics.errors import ScoreRunRefused
from metrics.forms.runs import ScoreRunForm, people_wrote
from metrics.models import ScoreRun
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.registry import METRICS, get_metric
from metrics.selectors.catalogue import Entry, catalogue, default_parameters
from metrics.services.runs import score_run_execute
from tests.metrics.runs import PLAIN_METRICS, TEXT_METRICS
from tests.metrics.trained import models_dir, trained_model  # noqa: F401 # a fixture
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


def new_url(project: Project) -> str:
    return reverse("metrics:run-create", args=[project.slug])


def filled(form: ScoreRunForm, metric: str, **texts: int) -> dict:
    """What a browser sends when a form is sent as it is shown."""
    initial = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    submitted = {
        name: "on" if value is True else value
        for name, value in initial.items()
        if value is not None and value is not False
    }
    models = {
        name: field.choices[0][0]
        for name, field in form.fields.items()
        if "model" in name and hasattr(field, "choices")
    }
    return {"metric": metric, **submitted, **models, **texts}


def test_metrics_are_offered_by_groups_with_what_is_missing(world: World, manager, as_user) -> None:
    page = as_user(manager).get(new_url(world.project))

    offered = [entry for entries in page.context["groups"].values() for entry in entries]
    assert {entry.name for entry in offered} == set(METRICS) - {"external"}
    assert page.context["form"].chosen == {"delta_bleu", "bleu", "sbleu", "chrf", "ter", "rouge_l", "cider"}
    content = page.content.decode()
    assert f'href="?metric=bleu&amp;texts=release-{world.release.pk}"' in content
    assert 'href="?metric=am&amp;' not in content
    assert "This project has no LSA space yet." in content


def test_other_texts_leave_the_parameters_that_the_address_gives(world: World, manager, as_user) -> None:
    page = as_user(manager).get(new_url(world.project), {"metric": "bleu", "max_order": 3, "texts": ""})
    chooser = page.content.decode().split('<form method="get"')[1].split("</form>")[0]
    assert re.findall(r'name="(\w+)" value="(\w+)"', chooser) == [("metric", "bleu"), ("max_order", "3")]


def test_a_metric_without_references_of_a_release_reads_its_data_set(world: World, manager, as_user) -> None:
    page = as_user(manager).get(new_url(world.project), {"metric": "entropy", "release": world.release.pk})

    assert page.status_code == 200
    assert f'value="dataset-{world.dataset.pk}" selected' in page.content.decode()


@pytest.mark.parametrize("metric", [*PLAIN_METRICS, *TEXT_METRICS])
def test_a_form_sent_as_it_is_shown_makes_a_run(
    world: World, manager, as_user, metric: str, django_capture_on_commit_callbacks
) -> None:
    client, url = as_user(manager), new_url(world.project)
    form = client.get(url, {"metric": metric}).context["form"]
    source = {"dataset": world.dataset.pk} if metric in TEXT_METRICS else {"release": world.release.pk}

    answer = client.post(url, filled(form, metric, **source))

    run = ScoreRun.objects.get()
    assert answer.url == reverse("metrics:run-detail", args=[world.project.slug, run.number])
    assert run.parameters == get_metric(metric, **default_parameters(METRICS[metric], "13a")).parameters()
    assert (run.release is None) == (metric in TEXT_METRICS)
    names = {"Echo", "Parrot", "Quill"} | ({"Human", "Random"} if metric in TEXT_METRICS else set())
    assert {system.name for system in run.systems.all()} == names


def test_a_metric_with_a_model_offers_the_projects_own(world: World, manager, as_user, models_dir) -> None:  # noqa: F811
    model = trained_model(world)
    client, url = as_user(manager), new_url(world.project)

    form = client.get(url, {"metric": "am"}).context["form"]
    assert form.fields["model"].choices == [(model.reference, "Cat space v1 · Cats")]
    client.post(url, filled(form, "am", release=world.release.pk) | {"k": 3})

    run = ScoreRun.objects.get()
    assert (run.parameters["model"], run.parameters["k"]) == (model.reference, 3)


def test_a_metric_that_can_do_without_references_is_run_on_a_data_set_alone(
    world: World,
    manager,
    as_user,
    models_dir,  # noqa: F811
) -> None:
    trained_model(world, kind="language_model", name="Cat words")
    client, url = as_user(manager), new_url(world.project)

    page = client.get(url, {"metric": "fm"})
    assert "subset" in page.context["form"].fields
    assert f'<option value="dataset-{world.dataset.pk}">Cats · outputs alone</option>' in page.content.decode()
    form = client.get(url, {"metric": "fm", "dataset": world.dataset.pk}).context["form"]
    assert "subset" not in form.fields
    data = filled(form, "fm", dataset=world.dataset.pk)
    client.post(url, data)

    run = ScoreRun.objects.get()
    assert (run.release, run.parameters["form"]) == (None, "absolute")
    score_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.report["references"]) == (JobState.DONE, 0)
    assert "|refs:" not in run.signature
    refused = client.post(url, data | {"form": "relative"}).context["form"]
    assert refused.errors.as_data()
    assert ScoreRun.objects.count() == 1


def test_the_newest_of_several_models_is_marked(world: World, manager, as_user, models_dir) -> None:  # noqa: F811
    trained_model(world)
    trained_model(world, texts=["messages", "contexts"])

    form = as_user(manager).get(new_url(world.project), {"metric": "am"}).context["form"]

    labels = [label for _, label in form.fields["model"].choices]
    assert labels == ["Cat space v2 · Cats · newest", "Cat space v1 · Cats"]


def test_systems_that_gave_references_or_repeat_another_are_named_and_left_out(world: World, manager, as_user) -> None:
    twin = System.objects.create(dataset=world.dataset, name="Twin", description="")
    ResponseSource.objects.bulk_create(
        ResponseSource(response=world.responses["Echo", index], item=item, kind=SourceKind.SYSTEM, system=twin)
        for index, item in enumerate(world.items)
    )

    form = as_user(manager).get(new_url(world.project), {"metric": "bleu"}).context["form"]

    assert {str(label) for _, label in form.fields["systems"].choices} == {
        "Echo",
        "Parrot",
        "Quill",
        "Human (gave references)",
        "Random (gave references)",
        "Twin (same outputs as Echo)",
    }
    assert set(form.initial["systems"]) == {system.pk for system in world.hypotheses}


def test_only_the_chosen_metrics_parameters_are_shown(world: World, manager, as_user) -> None:
    form = as_user(manager).get(new_url(world.project), {"metric": "chrf"}).context["form"]

    parameters = {parameter.name for parameter in METRICS["chrf"].parameter_list()}
    assert set(form.fields) == parameters | {"systems", "subset", "items"}


def test_metrics_without_weights_are_warned_of_references_that_an_output_should_not_match(world: World) -> None:
    def beside(metric: str) -> str:
        form = ScoreRunForm(metric=METRICS[metric], dataset=world.dataset, release=world.release)
        text, chosen = str(form.fields["subset"].help_text), form.get_initial_for_field(form.fields["subset"], "subset")
        assert chosen == ("w>0" if "reward" in text else "all"), "what the text advises is the default"
        return text

    negative = {weight.response_id for weight in world.release.weights.all() if weight.weight < 0}
    assert f"“all” has {len(negative)} references of negative weight. This metric reads no weights" in beside("chrf")
    assert "reward" not in beside("delta_bleu"), "it punishes such matches"
    other = world.release.weights.filter(weight__gt=0)[0]
    ResponseSource.objects.create(response=other.response, item=other.item, kind=SourceKind.RANDOM)
    assert f"“all” has {len(negative) + 1} references that are random or of negative weight." in beside("bleu")
    assert people_wrote([SourceKind.MINED, SourceKind.RANDOM]) == [SourceKind.MINED], "random replies are not ticked"


def test_a_value_out_of_range_is_named_beside_its_field(world: World, manager, as_user) -> None:
    data = {"metric": "bleu", "release": world.release.pk, "max_order": 9, "subset": "all"}

    form = as_user(manager).post(new_url(world.project), data).context["form"]

    assert form.errors["max_order"] == ["Accepted: an integer from 1 to 4."]


def test_what_the_service_refuses_is_named_beside_its_field(world: World, manager, as_user) -> None:
    form = ScoreRunForm({}, metric=METRICS["bleu"], dataset=world.dataset, release=world.release)
    form.is_valid()
    form.add_refusal(ScoreRunRefused("No.", fields={"max_order": ["Too long."]}))
    form.add_refusal(ScoreRunRefused("Nothing at all.", fields={"elsewhere": ["?"]}))

    assert "Too long." in form.errors["max_order"]
    assert "elsewhere: ?" in form.non_field_errors()


def test_the_address_fills_in_what_it_names(world: World, manager, as_user) -> None:
    query = {"metric": "bleu", "max_order": "4", "lowercase": "False", "subset": "w>=0.5"}

    form = as_user(manager).get(new_url(world.project), query).context["form"]

    initial = {name: form.get_initial_for_field(form.fields[name], name) for name in query if name in form.fields}
    assert initial == {"max_order": "4", "lowercase": False, "subset": "w>=0.5"}


@pytest.mark.parametrize("query", [{"metric": "nonsense"}, {"metric": "external"}, {"metric": "bleu", "release": "0"}])
def test_an_unknown_metric_or_release_is_404(world: World, manager, as_user, query: dict) -> None:
    assert as_user(manager).get(new_url(world.project), query).status_code == 404


def test_an_unavailable_metric_says_what_is_missing(world: World, manager, as_user, monkeypatch) -> None:
    monkeypatch.setattr(METRICS["chrf"], "unavailable", classmethod(lambda cls: "python -m pip install something"))

    page = as_user(manager).get(new_url(world.project), {"metric": "chrf"})

    assert "form" not in page.context
    assert "python -m pip install something" in page.content.decode()


def test_without_any_reference_metrics_of_the_outputs_alone_are_left(world: World, manager, as_user) -> None:
    page = as_user(manager).get(new_url(world.project), {"dataset": world.dataset.pk})

    form = page.context["form"]
    choices = dict(form.fields["metrics"].choices)
    assert form.chosen == set()
    assert "length" in choices
    assert "bleu" not in choices
    assert "These texts have no references yet." in page.content.decode()


@pytest.mark.parametrize("query", [{}, {"metric": "length"}])
def test_without_outputs_there_is_nothing_to_score(project, manager, as_user, query: dict) -> None:
    assert "No data set here has outputs" in as_user(manager).get(new_url(project), query).content.decode()


# --- The catalogue ----------------------------------------------------------------------------------------------------


def test_the_catalogue_lists_every_metric(world: World, viewer, outsider, as_user) -> None:
    url = reverse("metrics:run-metrics", args=[world.project.slug])
    page = as_user(viewer).get(url).content.decode()

    for name, metric in METRICS.items():
        if name != "external":
            assert f'id="{name}"' in page
            for parameter in metric.parameter_list():
                assert f"<code>{parameter.name}</code>" in page
    assert "Run it" not in page  # a viewer may not
    assert as_user(outsider).get(url).status_code == 404


def test_the_catalogue_names_broken_entry_points(world: World, manager, as_user, monkeypatch) -> None:
    monkeypatch.setattr(type(METRICS), "broken", {"novelty = novel:Novelty": "ModuleNotFoundError: novel"})

    page = as_user(manager).get(reverse("metrics:run-metrics", args=[world.project.slug])).content.decode()

    assert "novelty = novel:Novelty" in page
    assert "ModuleNotFoundError: novel" in page
    assert 'aria-label="Run BLEU"' in page


def test_every_metric_names_a_source() -> None:
    silent = [name for name, metric in METRICS.items() if not Entry(metric).description]
    assert silent == []


def test_a_project_without_models_lacks_those_of_each_kind(world: World) -> None:
    lacking = {
        entry.name: entry.missing_kind
        for entries in catalogue(world.project).values()
        for entry in entries
        if entry.missing_kind
    }
    assert lacking == {
        "am": "lsa",
        "fm": "language_model",
        "am_fm": "lsa",
        "quality_estimate": QualityEstimator.kind,
        "embedding_average": "vectors",
        "vector_extrema": "vectors",
        "greedy_matching": "vectors",
    }
