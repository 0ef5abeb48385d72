"""First views of the analyses of a release of 100,000 rated references, compared with one of 1,000.

python -m benchmarks.bench_weighing

Works in a process of its own on a PostgreSQL of its own, durable as in production, and removes both.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench_import import MEASURE, in_own_process, printed, row, timed
from benchmarks.weighed import PER_ITEM, rated_release

if TYPE_CHECKING:
    from annotation.models import Release

SIZES = {1_000: (63, 50), 100_000: (100_000 // PER_ITEM, 500)}  # items, raters
TIMES = 5
PAGES = {
    "Needs attention": "release-attention",
    "Sensitivity": "release-sensitivity",
    "Raters": "release-influence",
    "Circularity": "release-guard",
}
MOST_MS = 1000  # that a page may compute


def run() -> list[dict[str, Any]]:
    return in_own_process("benchmarks.bench_weighing", MEASURE)


def measure() -> list[dict[str, Any]]:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    from annotation.models import Membership, Project, Role, User

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    call_command("migrate", verbosity=0)
    project = Project.objects.create(name="Benchmark", slug="benchmark")
    user = User.objects.create(username="reader")
    Membership.objects.create(project=project, user=user, role=Role.VIEWER)
    releases = {size: rated_release(project, items, n_raters=raters) for size, (items, raters) in SIZES.items()}
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    waiting = views(releases[100_000], user, status=202)
    computing = computed(releases[100_000])
    small, large = (views(releases[size], user, status=200) for size in SIZES)
    return [
        *(
            row(
                f"{name}: first view, 100,000 references",
                large[name],
                "ms",
                target=f"at most {MOST_MS} ms",
                against=f"1,000 references: {small[name]:.0f} ms",
                ratio=large[name] / small[name],
            )
            for name in PAGES
        ),
        *(
            row(
                f"{name}: that it is being computed",
                waiting[name],
                "ms",
                target=f"at most {MOST_MS} ms",
                against=f"its first view: {large[name]:.0f} ms",
                ratio=waiting[name] / large[name],
            )
            for name in PAGES
        ),
        *(
            row(
                f"{name}: computed once, by a worker",
                seconds,
                "s",
                against=f"its first view: {large[name]:.0f} ms",
                ratio=1000 * seconds / large[name],
            )
            for name, seconds in zip(PAGES, computing, strict=True)
        ),
    ]


def views(release: Release, user: Any, *, status: int) -> dict[str, float]:
    """Measure median milliseconds of each page without cache."""
    from django.core.cache import cache
    from django.test import Client
    from django.urls import reverse

    client = Client()
    client.force_login(user)
    where = [release.reference_set.project.slug, release.reference_set.slug, release.number]
    medians = {}
    for name, page in PAGES.items():
        address, taken = reverse(f"annotation:{page}", args=where), []
        for _ in range(TIMES):
            cache.clear()
            seconds, answer = timed(partial(client.get, address))
            if answer.status_code != status:
                raise RuntimeError(f"{address} was answered with status {answer.status_code}, not {status}.")
            taken.append(1000 * seconds)
        medians[name] = float(np.median(taken))
    return medians


def computed(release: Release) -> list[float]:
    """Measure the seconds to compute each page's analysis, in their order, reading the judgements each time."""
    from django.core.cache import cache

    from annotation.models import FiguresPart
    from annotation.references.weighing.services.figures import figures_compute, figures_request

    taken = []
    for part in (FiguresPart.ATTENTION, FiguresPart.SENSITIVITY, FiguresPart.INFLUENCE, FiguresPart.TEXTS):
        figures, _ = figures_request(release=release, part=part)
        cache.clear()
        seconds, _ = timed(partial(figures_compute, figures_id=figures.pk))
        taken.append(seconds)
    return taken


if __name__ == "__main__":
    printed(run, measure)
