"""What the form of a new study has ticked and filled in at first."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, Release, ReleaseWeight, ResponseSource, SourceKind, System
from annotation.overview.closing import ways_on
from correlations.forms.studies import StudyForm
from correlations.services.studies import study_create
from metrics.selectors.copies import systems_that_copy
from tests.annotation.worlds.rated import make_campaign, rate
from tests.correlations.services.test_any_metric import make_imported_run
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


def way_to_a_study(world: World) -> str:
    return next(step.url for step in ways_on(world.output_campaign) if step.action == "Start a study")


def test_systems_that_copy_references_are_named_before_the_study_starts(world: World) -> None:
    assert systems_that_copy(world.dataset) == []
    for source in ResponseSource.objects.filter(system__name="Parrot", item__in=world.items[:25]):
        ResponseSource.objects.create(response=source.response, item=source.item, kind=SourceKind.HUMAN)

    assert systems_that_copy(world.dataset) == ["Parrot"]
    form = StudyForm(dataset=world.dataset)
    assert "most outputs of Parrot are references themselves" in form.fields["systems"].help_text


def test_a_study_like_another_ticks_the_imported_scores_of_that_study_alone(world: World) -> None:
    used = make_imported_run(world, lowest=1.0, highest=5.0)
    other = make_imported_run(world, lowest=0.0, highest=9.0)
    changes = {"metrics": ["bleu", {"run": used.number}], "bootstrap": 0, "assignments": 2}
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)

    ticked = StudyForm(dataset=world.dataset, release=world.release, like=study).initial["metrics"]

    assert f"run:{used.number}" in ticked
    assert f"run:{other.number}" not in ticked
