"""Reference sets in docs/screens: a tour whose set is released in two ways."""

from django.urls import reverse

from annotation.models import Corpus, MiningRun, Project, ReferenceSet, ResponseList, SeedSelection, User
from annotation.references.releases.services.releases import release_build, release_create
from metrics.services.tour import tour


def walked(user: User) -> dict[str, str]:
    """Return URLs of the tour's pages; create the tour and a second release if they do not exist."""
    project = Project.objects.filter(slug="tour").first()
    if project is None:
        project = tour(by=user).project
    references = ReferenceSet.objects.get(project=project)
    if references.releases.count() < 2:
        second = release_create(reference_set=references, method="median", by=user)
        release_build(release_id=second.pk)
    first = references.releases.get(number=1)
    release = [project.slug, references.slug, first.number]
    weight = first.weights.filter(is_original=False, weight__gt=0).order_by("-weight", "pk")[0]
    selection = SeedSelection.objects.get(project=project)
    corpus, run = Corpus.objects.get(project=project), MiningRun.objects.get(project=project)
    listed = ResponseList.objects.filter(project=project).earliest("pk")
    return {
        "tour": reverse("annotation:project-detail", args=[project.slug]),
        "corpora": reverse("annotation:corpus-list", args=[project.slug]),
        "corpus-new": reverse("annotation:corpus-create", args=[project.slug]),
        "corpus": reverse("annotation:corpus-detail", args=[project.slug, corpus.slug]),
        "mined": reverse("annotation:mining-run-detail", args=[project.slug, run.pk]),
        "seeds": reverse("annotation:seed-list", args=[project.slug]),
        "selection": reverse("annotation:seed-detail", args=[project.slug, selection.dataset.slug]),
        "list": reverse("annotation:response-list-detail", args=[project.slug, listed.pk]),
        "references": reverse("annotation:reference-set-detail", args=[project.slug, references.slug]),
        "release": reverse("annotation:release-detail", args=release),
        "item": reverse("metrics:release-item", args=[*release, weight.item_id]),
        "response": reverse("annotation:response-detail", args=[project.slug, weight.response_id]),
    }
