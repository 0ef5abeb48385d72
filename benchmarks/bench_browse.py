"""Browsing 100,000 references, compared with 1,000 in the same run: the server's responses, then scrolling.

python -m benchmarks.bench_browse

Works in a process of its own on a PostgreSQL of its own, durable as in production, and removes both.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import numpy as np

from benchmarks.bench_import import MEASURE, in_own_process, printed, row, timed
from benchmarks.references import RARE, made_release

if TYPE_CHECKING:
    from annotation.models import Release

ITEMS = {1_000: 63, 100_000: 6_250}  # of 16 references each
PER_ITEM = 16
TIMES = 7
SCROLLED = 1_500  # references
AT_LEAST, PATIENCE_MS = 300, 90_000  # on a busy machine fewer pass and are reported
FRAME_MS, LONG_MS = 1000 / 60, 50  # a long task is one of more than 50 ms: W3C, Long Tasks API

# The page records long tasks and the time between frames.
WATCH = """
() => {
  window.seen = { tasks: [], frames: [] };
  new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask" });
  let last = performance.now();
  const frame = (now) => { seen.frames.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}
"""
# Scroll ten screens a second until enough references have passed.
SCROLL = """
async ([enough, patience]) => {
  const passed = new Set();
  const began = performance.now();
  while (passed.size < enough && performance.now() - began < patience) {
    scrollBy(0, 800);
    for (const one of document.querySelectorAll("[data-reference]")) passed.add(one.id);
    await new Promise((done) => setTimeout(done, 100));
  }
  return { passed: passed.size, kept: document.querySelectorAll("[data-reference]").length,
           nodes: document.querySelectorAll("*").length, ...window.seen };
}
"""


def run() -> list[dict[str, Any]]:
    return in_own_process("benchmarks.bench_browse", MEASURE)


def measure() -> list[dict[str, Any]]:
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    from annotation.models import Membership, Project, Role, User

    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.SESSION_COOKIE_SECURE = False
    call_command("migrate", verbosity=0)
    project = Project.objects.create(name="Benchmark", slug="benchmark")
    user = User.objects.create(username="reader")
    Membership.objects.create(project=project, user=user, role=Role.VIEWER)
    releases = {size: made_release(project, n_items, PER_ITEM) for size, n_items in ITEMS.items()}
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return [*answers(releases, user), *scrolling(releases[100_000], user)]


def answers(releases: dict[int, Release], user: Any) -> list[dict[str, Any]]:
    """Measure median milliseconds of pages without cache, compared with a thousand references."""
    from django.core.cache import cache
    from django.test import Client

    client = Client()
    client.force_login(user)
    deep = {size: _weight_id_at(release, 0.95) for size, release in releases.items()}
    queries = {
        "The first page, by item": "",
        "A page 95 % in": "?after={deep}",
        "A search, one reference in a thousand": f"?text={RARE}",
        "A search, one reference in six": "?text=rain",
        "A brush over the weights": "?low=0.5&high=0.75",
        "Original responses of one split": "?original=yes&split=dev",
        "By reference, widest interval first": "?view=references&sort=-width",
        "By reference, most disagreement first, 95 % in": "?view=references&sort=-spread&after={deep}",
        "As a table": "?view=table",
    }
    rows = []
    for name, query in queries.items():
        medians = {}
        for size, release in releases.items():
            address = _address(release) + query.format(deep=deep[size])
            taken = []
            for _ in range(TIMES):
                cache.clear()
                seconds, answer = timed(partial(client.get, address))
                if answer.status_code != 200:
                    raise RuntimeError(f"{address} was answered with status {answer.status_code}.")
                taken.append(1000 * seconds)
            medians[size] = float(np.median(taken))
        ratio = medians[100_000] / medians[1_000]
        against = f"1,000 references: {medians[1_000]:.0f} ms"
        rows.append(row(f"{name}: 100,000 references", medians[100_000], "ms", against=against, ratio=ratio))
    return rows


def scrolling(release: Release, user: Any) -> list[dict[str, Any]]:
    """Measure frames and tasks of Chromium while it scrolls through thousands of references."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.wsgi import get_wsgi_application
    from playwright.sync_api import sync_playwright

    from tests.browser.support import DESKTOP, launch_chromium

    session = SessionStore()
    session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session.create()
    server = make_server("127.0.0.1", 0, StaticFilesHandler(get_wsgi_application()), handler_class=_Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        context = browser.new_context(**DESKTOP)
        context.add_cookies([{"name": "sessionid", "value": session.session_key or "", "url": base}])
        page = context.new_page()
        page.goto(base + _address(release))
        page.evaluate(WATCH)
        measured = page.evaluate(SCROLL, [SCROLLED, PATIENCE_MS])
        browser.close()
    server.shutdown()
    if measured["passed"] < AT_LEAST:
        raise RuntimeError(f"Only {measured['passed']} references came in {PATIENCE_MS / 1000:.0f} s.")
    frames, tasks = np.array(measured["frames"]), measured["tasks"]
    what = f"while {measured['passed']:,} of 100,000 references are scrolled through"
    long = f"{LONG_MS} ms; {len(tasks)} in {len(frames):,} frames"
    return [
        row(
            f"Frame time {what}, median",
            float(np.median(frames)),
            "ms",
            against=f"{FRAME_MS:.1f} ms, a screen's",
            ratio=float(np.median(frames)) / FRAME_MS,
        ),
        row(
            f"Frame time {what}, 99th percentile",
            float(np.percentile(frames, 99)),
            "ms",
            against=f"{FRAME_MS:.1f} ms",
            ratio=float(np.percentile(frames, 99)) / FRAME_MS,
        ),
        row(
            f"Longest task {what}", max(tasks, default=0.0), "ms", against=long, ratio=max(tasks, default=0.0) / LONG_MS
        ),
        row(
            "References kept in the page afterwards",
            measured["kept"],
            "",
            against=f"{measured['passed']:,} seen",
            ratio=measured["kept"] / measured["passed"],
        ),
    ]


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Do not log requests."""


def _address(release: Release) -> str:
    from django.urls import reverse

    slugs = [release.reference_set.project.slug, release.reference_set.slug, release.number]
    return reverse("annotation:release-browse", args=slugs)


def _weight_id_at(release: Release, share: float) -> int:
    """Return the id of the weight at this share of the release."""
    pks = release.weights.order_by("item_position", "-weight", "id").values_list("pk", flat=True)
    return int(pks[int(share * pks.count())])


if __name__ == "__main__":
    printed(run, measure)
