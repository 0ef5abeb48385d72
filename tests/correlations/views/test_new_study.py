"""What the form of a new study has ticked and filled in at first."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Campaign,
    CampaignState,
    Release,
    ReleaseWeight,
    Response,
    ResponseSource,
    SourceKind,
    System,
)
from annotation.overview.closing import ways_on
from correlations.forms.studies import AS_SCORED, StudyForm, proposed_name
from correlations.models import Study
from correlations.selectors.run_settings import settings_of_runs
from correlations.services.studies import study_create
from metrics.models import ScoreRun
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.settings import departures
from metrics.selectors.copies import Copies, copies_on, systems_that_copy
from metrics.selectors.leaderboard import compared_runs, leaderboard
from metrics.services.runs import score_run_create, score_run_execute
from tests.annotation.worlds.rated import make_campaign, rate
from tests.correlations.services.test_any_metric import make_imported_run
from tests.correlations.views.test_pages import form_data
from tests.metrics.runs import finished_run
from tests.metrics.trained import models_dir, trained_model  # noqa: F401
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


def test_the_form_preselects_systems_without_references_and_aliases(world: World, manager, as_user) -> None:
    alias = System.objects.create(dataset=world.dataset, name="Parrot again")
    for source in ResponseSource.objects.filter(system__name="Parrot"):
        ResponseSource.objects.create(response=source.response, item=source.item, kind=SourceKind.SYSTEM, system=alias)
    page = as_user(manager).get(reverse("correlations:study-create", args=[world.project.slug]))
    form = page.context["form"]
    assert form.initial["systems"] == ["Echo", "Parrot", "Quill"]
    assert form.initial["campaigns"] == [world.output_campaign.name]  # the other one is behind the weights
    assert dict(form.fields["campaigns"].choices)[world.reference_campaign.name].endswith("weigh these references)")
    assert "original" in form.initial.get("subsets", form.fields["subsets"].initial)
    weights = list(world.release.weights.all())
    without = Release.objects.create(reference_set=world.reference_set, number=2, method=world.release.method)
    for weight in weights:
        weight.pk, weight.release, weight.is_original = None, without, False
    ReleaseWeight.objects.bulk_create(weights)
    assert StudyForm(dataset=world.dataset, release=without).initial["subsets"] == "w>0, w>=0.6, all"
    assert "Human (gave references)" in page.content.decode()


def test_one_campaign_is_ticked_and_raters_whom_two_share_are_named(world: World, manager, as_user) -> None:
    first = world.output_campaign
    second = campaign_clone_with_ratings(first)
    offered = StudyForm(dataset=world.dataset, release=world.release)
    assert offered.initial["campaigns"] == [first.name], "it is closed"
    shared = (
        f"1 rater rated the same responses to 1 item in “Again” and in “{first.name}”: chosen together, these raters "
        "count twice there."
    )
    assert shared in offered.fields["campaigns"].help_text
    Campaign.objects.filter(pk=second.pk).update(state="closed", closed_at=timezone.now() + timedelta(hours=1))
    assert StudyForm(dataset=world.dataset, release=world.release).initial["campaigns"] == ["Again"], "closed since"
    Campaign.objects.filter(dataset=world.dataset).update(state="running", closed_at=None)
    assert StudyForm(dataset=world.dataset, release=world.release).initial["campaigns"] == [first.name], "more ratings"

    sent = {"texts": f"release-{world.release.pk}", "name": "Twice", "campaigns": [first.name, "Again"]}
    sent |= {"systems": ["Echo", "Parrot"], "metrics": ["bleu"], "subsets": "all", "assignments": 1, "bootstrap": 0}
    sent |= {"order": 2, "tokenize": "whitespace", "orientation": "both", "remainder": "keep", "seed": 1}
    sent |= {"coefficients": ["spearman"], "compare": "best"}
    url = reverse("correlations:study-create", args=[world.project.slug])
    page = as_user(manager).post(url, sent, follow=True)
    assert [message.message for message in page.context["messages"]] == [shared]


def campaign_clone_with_ratings(campaign: Campaign) -> Campaign:
    """Return another running campaign of the data set, in which a rater of this one rated one output again."""
    rating = campaign.ratings.select_related("rater", "response").order_by("pk")[0]
    again = make_campaign(campaign.dataset, "Again", {campaign.criteria.first().name: (1, 5)})
    rate(again, rating.rater.pseudonym, rating.response, 3)
    again.units.update(done_slots=1)
    return again


def test_a_release_is_chosen_at_first_only_if_a_metric_reads_weights(world: World, manager, as_user) -> None:
    url = reverse("correlations:study-create", args=[world.project.slug])
    assert as_user(manager).get(url).context["release"] == world.release, "ΔBLEU is ticked"
    assert f"?release={world.release.pk}" in way_to_a_study(world)
    make_imported_run(world, lowest=1.0, highest=5.0)
    assert as_user(manager).get(url).context["release"] == world.release, "the data set has no references of its own"
    source = ResponseSource.objects.filter(item=world.items[0])[0]
    ResponseSource.objects.create(response=source.response, item=source.item, kind=SourceKind.HUMAN)
    page = as_user(manager).get(url)
    assert page.context["release"] is None
    assert f"?dataset={world.dataset.pk}" in way_to_a_study(world)
    assert page.context["texts"].dataset == world.dataset
    assert as_user(manager).get(url, {"release": world.release.pk}).context["release"] == world.release


def test_the_way_from_a_campaign_ticks_that_campaign_though_another_is_newer(world: World, manager, as_user) -> None:
    newer = campaign_clone_with_ratings(world.output_campaign)
    Campaign.objects.filter(pk=newer.pk).update(state=CampaignState.CLOSED, closed_at=timezone.now())
    client, url = as_user(manager), reverse("correlations:study-create", args=[world.project.slug])
    assert client.get(url).context["form"].initial["campaigns"] == [newer.name]

    assert client.get(way_to_a_study(world)).context["form"].initial["campaigns"] == [world.output_campaign.name]
    assert client.get(f"{url}?campaign=0").context["form"].initial["campaigns"] == [newer.name]
    of_references = next(each for each in ways_on(world.reference_campaign) if each.action == "Start a study")
    assert client.get(of_references.url).context["form"].initial["campaigns"] == [newer.name]  # it weighs these

    world.dataset.campaigns.exclude(pk=world.reference_campaign.pk).update(
        state=CampaignState.DRAFT, closed_at=None, launched_at=None, design_hash=""
    )
    assert client.get(f"{url}?campaign={world.reference_campaign.pk}").context["form"].initial["campaigns"] == []
    assert client.get(url).context["form"].initial["campaigns"] == [], "the only one rated no output of these systems"


def way_to_a_study(world: World) -> str:
    return next(step.url for step in ways_on(world.output_campaign) if step.action == "Start a study")


def test_systems_that_copy_references_are_named_before_the_study_starts(world: World) -> None:
    """The share is counted by hand: 25 texts of Parrot as they are, 5 in capitals with a stop, of 40 items."""
    assert systems_that_copy(world.dataset) == []
    sources = list(ResponseSource.objects.filter(system__name="Parrot").order_by("item__position"))
    for number, source in enumerate(sources):
        text = f" {source.response.text.upper()} ." if number < 30 else f"what no system says, {number}"
        response = source.response
        if number >= 25:
            response = Response.objects.create(item=source.item, text=text, text_key=text)
        ResponseSource.objects.create(response=response, item=source.item, kind=SourceKind.HUMAN)

    assert systems_that_copy(world.dataset) == [Copies("Parrot", 30, 40)]
    form = StudyForm(dataset=world.dataset)
    said = form.fields["systems"].help_text
    assert "Circular: 75% of the outputs of Parrot are references themselves" in said
    assert "if at least 30% of its outputs are references of their items" in said
    for name, n in (("bleu", 1), ("length", 0)):  # length reads no references
        run, _ = score_run_create(
            project=world.project, dataset=world.dataset, systems=world.hypotheses, metric=name, parameters={}, by=None
        )
        score_run_execute(run_id=run.pk)
        assert len(copies_on(leaderboard(world.dataset, compared_runs(world.dataset, [run.number])))) == n


def plain_references(world: World) -> None:
    for item in world.items:
        response = Response.objects.create(item=item, text=f"a reply to {item}", text_key=f"reply {item}")
        ResponseSource.objects.create(response=response, item=item, kind=SourceKind.HUMAN)


def stored_run(world: World, metric: str, **parameters: object) -> ScoreRun:
    """Return a run on the data set's own references that counts as finished, without scores."""
    run, _ = score_run_create(
        project=world.project,
        dataset=world.dataset,
        systems=world.hypotheses,
        metric=metric,
        parameters=parameters,
        by=None,
    )
    ScoreRun.objects.filter(pk=run.pk).update(state="done", finished_at=timezone.now(), report={})
    return run


def sent(form: StudyForm, **changes: object) -> dict[str, object]:
    """Return what a browser sends of the form, as it begins but for these changes."""
    names = ("campaigns", "systems", "order", "tokenize", "lowercase", "orientation", "remainder", "coefficients")
    begun = {name: form.get_initial_for_field(form.fields[name], name) for name in (*names, "compare", "seed")}
    begun |= {
        "name": "As it begins",
        "systems": ["Echo", "Parrot"],
        "subsets": "all",
        "assignments": 2,
        "bootstrap": 0,
        "unit_size": 10,
    }
    return {name: value for name, value in (begun | changes).items() if value is not False}


def parameters_of(world: World, form: StudyForm) -> dict[str, dict[str, object]]:
    assert form.is_valid(), form.errors
    study, _ = study_create(project=world.project, specification=form.specification(), name="Study", by=None)
    return {entry["name"]: entry["parameters"] for entry in study.specification["metrics"]}


def test_a_study_has_the_settings_of_one_click_whatever_was_scored_before(world: World, manager, as_user) -> None:
    """BLEU's are sacrebleu's, without departures; ROUGE-L and CIDEr are lowercased beside it, as their authors do."""
    plain_references(world)
    url = reverse("metrics:run-create", args=[world.project.slug])
    form = as_user(manager).get(url, {"dataset": world.dataset.pk}).context["form"]
    form.cleaned_data = {"metrics": sorted(form.chosen), "systems": world.hypotheses}
    one_click = {name: get_metric(name, **given).parameters() for name, given in form.arguments()["metrics"]}
    before = StudyForm(dataset=world.dataset)
    stored_run(world, "bleu", max_order=2, tokenize="whitespace", lowercase=True)
    after = StudyForm(dataset=world.dataset)

    assert (before.fields["order"].initial, before.fields["tokenize"].initial) == (4, "13a")
    assert before.settings_note == after.settings_note
    assert before.settings_note.startswith(
        "The usual settings, the same as in one click on New score run: order 4, 13a"
    )
    exceptions = "BLEU and iBLEU: smooth exp; TER and METEOR: case ignored; "
    exceptions += "ROUGE-L, CIDEr, distinct-n, Ent-n and Self-BLEU: lowercase."
    assert form.settings_note.endswith(exceptions), "of all that are offered, also those that are not ticked"
    names = ["bleu", "sbleu", "rouge_l", "cider", "chrf", "ter"]
    found = parameters_of(world, StudyForm(sent(after, metrics=names), dataset=world.dataset))
    assert {name: found[name] for name in names} == {name: one_click[name] for name in names}
    assert departures(get_metric("bleu", **found["bleu"]).signature()) == []
    assert (found["rouge_l"]["lowercase"], found["bleu"]["lowercase"]) == (True, False)

    changed = StudyForm(sent(after, metrics=names, tokenize="intl"), dataset=world.dataset)
    found = parameters_of(world, changed)
    assert {found[name]["tokenize"] for name in names if "tokenize" in found[name]} == {"intl"}
    assert {found[name]["lowercase"] for name in ("bleu", "rouge_l", "chrf")} == {False}
    assert found["bleu"]["smoothing"] == "exp", "the order, the tokeniser and the case alone hold for all"
    assert changed.settings_note == (
        "Every ticked metric has the order, tokeniser and case chosen below, not its usual ones."
    )
    refused = StudyForm(sent(after, metrics=names, subsets=""), dataset=world.dataset)
    assert refused.errors
    assert refused.settings_note == after.settings_note


@pytest.mark.usefixtures("models_dir")
def test_metrics_of_word_vectors_keep_case_on_a_release_in_a_study_too(world: World) -> None:
    trained_model(world, kind="vectors")
    form = StudyForm(dataset=world.dataset, release=world.release)
    names = ["delta_bleu", "embedding_average"]
    found = parameters_of(world, StudyForm(sent(form, metrics=names), dataset=world.dataset, release=world.release))
    assert [found[name]["lowercase"] for name in names] == [True, False]
    assert form.settings_note.endswith("chrF, Embedding average, Vector extrema and Greedy matching: case kept.")

    for name in names:
        finished_run(world, name, lowercase=name == "delta_bleu", tokenize="13a")
    scored = settings_of_runs(world.dataset, world.release)
    assert scored is not None
    assert scored.special == {"delta_bleu": {}, "embedding_average": {"lowercase": False}}


def test_a_study_that_begins_with_scores_takes_their_smoothing_too(world: World) -> None:
    plain_references(world)
    stored_run(world, "bleu", max_order=2, tokenize="whitespace", lowercase=True)  # unsmoothed, which is not usual
    stored_run(world, "ibleu", max_order=2, tokenize="whitespace", lowercase=True, smoothing="exp")
    form = StudyForm(dataset=world.dataset, settings=AS_SCORED)
    assert form.initial["metric_lines"] == "bleu"
    assert {"bleu", "ibleu"} & set(form.initial["metrics"]) == {"ibleu"}
    begun = {name: form.initial[name] for name in ("metrics", "metric_lines", "order", "tokenize", "lowercase")}
    found = parameters_of(world, StudyForm(sent(form, **begun), dataset=world.dataset))
    assert [found[name]["smoothing"] for name in ("bleu", "ibleu")] == ["none", "exp"]


def test_scores_with_other_settings_are_named_and_a_study_can_begin_with_them(world: World, manager, as_user) -> None:
    plain_references(world)
    run = stored_run(world, "bleu", max_order=2, tokenize="whitespace", lowercase=True)
    client, url = as_user(manager), reverse("correlations:study-create", args=[world.project.slug])
    address = {"texts": f"dataset-{world.dataset.pk}"}

    page = client.get(url, address)
    said = f"In Scores BLEU (order 2, whitespace tokens) of run {run.number} has other settings"
    assert page.context["form"].other_settings.startswith(said)
    form = client.get(url, address | {"settings": "scores"}).context["form"]
    assert (form.initial["order"], form.initial["tokenize"], form.initial["lowercase"]) == (2, "whitespace", True)

    stored_run(world, "bleu", **METRICS["bleu"].published)  # what Scores shows from here on
    assert StudyForm(dataset=world.dataset).other_settings == ""
    assert "order 2, 13a tokens, lowercase (order and case as in Galley et al., 2015)" in (
        StudyForm(dataset=world.dataset, release=world.release).settings_note
    )


def test_a_study_like_another_ticks_the_imported_scores_of_that_study_alone(world: World) -> None:
    used = make_imported_run(world, lowest=1.0, highest=5.0)
    other = make_imported_run(world, lowest=0.0, highest=9.0)
    changes = {"metrics": ["bleu", {"run": used.number}], "bootstrap": 0, "assignments": 2}
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)

    ticked = StudyForm(dataset=world.dataset, release=world.release, like=study).initial["metrics"]

    assert f"run:{used.number}" in ticked
    assert f"run:{other.number}" not in ticked


def test_a_study_without_a_name_is_named_after_its_metrics_as_the_form_proposes(
    world: World, manager, as_user, monkeypatch
) -> None:
    monkeypatch.setattr("correlations.tasks.execute.delay", lambda _: None)
    client, url = as_user(manager), reverse("correlations:study-create", args=[world.project.slug])
    form = client.get(url).context["form"]
    assert form.fields["name"].widget.attrs["placeholder"] == "BLEU and 2 more, on Cats"

    for metrics, orders in ((["bleu", "chrf"], (2, 3)), (["bleu", "chrf", "ter"], (2,))):
        for order in orders:
            client.post(url, form_data(world, name="", metrics=metrics, order=order))
    names = Study.objects.order_by("pk").values_list("name", flat=True)
    assert list(names) == ["BLEU and chrF, on Cats", "BLEU and chrF, on Cats (2)", "BLEU and 2 more, on Cats"]
    assert proposed_name(world.dataset, ["x" * 130]) == "x" * 120


def test_from_the_page_of_a_judge_that_judge_alone_is_ticked(world: World, manager, as_user) -> None:
    run, other = make_imported_run(world), make_imported_run(world, lowest=1.0, highest=5.0)
    client, url = as_user(manager), reverse("correlations:study-create", args=[world.project.slug])
    page = client.get(reverse("metrics:run-detail", args=[world.project.slug, run.number])).content.decode()
    way = f"{url}?dataset={world.dataset.pk}&amp;run={run.number}"
    assert way in page

    shown = client.get(way.replace("&amp;", "&"))
    assert shown.context["form"].metrics_chosen == [f"run:{run.number}"]
    html = shown.content.decode()
    assert f'<input type="hidden" name="run" value="{run.number}">' in html, "it stays with another choice of texts"
    assert "is ticked, since you came from it." in html
    assert "metrics that cannot be chosen here, and why</summary>" in html
    assert " disabled" not in html.split('class="field metric-choices')[1].split("</fieldset>\n")[0]
    for number in (0, 99):  # no run of this data set
        assert f"run:{other.number}" in client.get(f"{url}?run={number}").context["form"].metrics_chosen
