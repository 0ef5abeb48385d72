"""What the form of a new study has ticked and filled in at first."""

import pytest
from django.urls import reverse

from annotation.models import Release, ReleaseWeight, ResponseSource, SourceKind, System
from correlations.forms.studies import StudyForm
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
