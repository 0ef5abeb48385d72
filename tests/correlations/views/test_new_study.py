"""What the form of a new study has ticked and filled in at first."""

import pytest
from django.urls import reverse

from annotation.models import Release, ReleaseWeight, ResponseSource, SourceKind, System
from correlations.forms.studies import StudyForm
from correlations.services.studies import study_create
from metrics.selectors.copies import systems_that_copy
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
