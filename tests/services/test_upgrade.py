"""A database of the first state that migrations can come from, brought to this version: nothing in it is lost.

``tests/data/first_state.sql.xz`` is a dump by the program of that time, of rows that its own services wrote: a study, a
score run, a release, a mining run, and a campaign that raters are in the middle of.
"""

import lzma
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from django.test import Client
from psycopg.sql import SQL, Identifier

from annotation.core.jobs import job_requeue
from annotation.models import Campaign, JobState, MiningRun, Project, Rater, User
from annotation.rating.services.handout import unit_request
from config.embedded_postgres import BINARIES
from correlations.models import Study
from correlations.services.execution import study_execute
from metrics.models import ScoreRun
from tests.annotation.worlds.campaigns import answer
from tests.services import servers
from tests.services.site import ROOT, running_site

pytestmark = pytest.mark.services
DUMP = ROOT / "tests/data/first_state.sql.xz"
EMPTIED = {"django_session", "annotation_heartbeat", "django_migrations"}
MOST_PAGES = 120


def rows_by_table(database: str) -> dict[str, int]:
    with psycopg.connect(database) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        counted = {}
        for (table,) in tables:
            (counted[table],) = connection.execute(SQL("SELECT count(*) FROM {}").format(Identifier(table))).fetchone()  # type: ignore[misc]
    return {table: n for table, n in counted.items() if n and table not in EMPTIED}


def test_the_first_state_of_the_database_becomes_this_version(
    tmp_path: Path, as_user: Callable[[User], Client]
) -> None:
    with servers.postgres() as database:
        load = [str(BINARIES / "psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--dbname={database}"]
        subprocess.run(load, input=lzma.decompress(DUMP.read_bytes()), check=True, capture_output=True)
        before = rows_by_table(database)
        assert before["annotation_rating"] == 483
        with running_site(tmp_path, database):
            after = rows_by_table(database)
            lost = {table: (n, after.get(table, 0)) for table, n in before.items() if after.get(table, 0) < n}
            assert not lost, lost

            study = Study.objects.get()
            assert study.state == JobState.FAILED
            assert study.error.startswith("An earlier version computed it")
            walked = walk(as_user(User.objects.get(username="olga")), Project.objects.get())
            assert len(walked) > 40, walked

            assert job_requeue(study)
            study_execute(study_id=study.pk)
            study.refresh_from_db()
            assert (study.state, study.error) == (JobState.DONE, "")
            assert set(ScoreRun.objects.values_list("state", flat=True)) == {JobState.DONE}
            assert MiningRun.objects.get().report["seeds"]["all"] == 3
            campaign, ada = Campaign.objects.get(name="Replies"), Rater.objects.get(pseudonym="ada")
            presentation = unit_request(campaign=campaign, rater=ada)
            assert presentation
            answer(presentation)


def walk(client: Client, project: Project) -> list[str]:
    """Open every page that is led to from the project's, in its order, and fail on one that does not answer."""
    first = f"/p/{project.slug}/"
    known, walked = [first], []
    while len(walked) < len(known) and len(walked) < MOST_PAGES:
        address = known[len(walked)]
        page = client.get(address)
        assert page.status_code in (200, 302), (address, page.status_code)
        walked.append(address)
        if not page.get("Content-Type", "").startswith("text/html"):
            continue
        for link in re.findall(r'href="(/[^"#]*)', page.content.decode()):
            if link.startswith(first) and link.replace("&amp;", "&") not in known:
                known.append(link.replace("&amp;", "&"))
    return walked
