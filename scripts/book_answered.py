"""What the picture book shows of results and studies: pages of the demo, found in its database."""

from urllib.parse import urlencode

from django.urls import reverse

from annotation.models import Campaign, Dataset, JobState, Project
from correlations.models import Study
from correlations.services.demo import JUDGE_STUDY, SENSITIVITY_STUDY


def answered() -> dict[str, str]:
    """Return the URLs of the demo's data set, results and finished studies.

    Raises
    ------
    Study.DoesNotExist
        The worker has not finished the demo's studies, or one of them was given up.
    """
    project = Project.objects.get(slug="demo")
    dataset = Dataset.objects.get(project=project, slug="dstc7")
    rated = Campaign.objects.get(project=project, name="Output ratings")
    done = Study.objects.filter(project=project, state=JobState.DONE)
    main, judged = done.get(name=SENSITIVITY_STUDY), done.get(name=JUDGE_STUDY)
    return {
        "projects": reverse("annotation:project-list"),
        "project-new": reverse("annotation:project-create"),
        "examples": reverse("annotation:example-list"),
        "dataset": reverse("annotation:dataset-detail", args=[project.slug, dataset.slug]),
        "one-item": reverse(
            "annotation:item-detail", args=[project.slug, dataset.slug, dataset.items.earliest("position").pk]
        ),
        "campaign-results": reverse("annotation:campaign-results", args=[project.slug, rated.pk]),
        "study-new": reverse("correlations:study-create", args=[project.slug]) + f"?dataset={dataset.pk}",
        "study": reverse("correlations:study-detail", args=[project.slug, main.pk]),
        "judge-study": reverse("correlations:study-detail", args=[project.slug, judged.pk]),
        "study-compare": reverse("correlations:study-compare", args=[project.slug])
        + "?"
        + urlencode([("study", study.pk) for study in (main, judged)]),
        "published": reverse("help-published"),
        "tokens": reverse("annotation:account-tokens"),
        "sessions": reverse("annotation:account-sessions"),
        "help": reverse("help"),
        "glossary": reverse("help-glossary"),
    }
