"""The page that imports scores, and the download of all scores: for members, by their roles."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.core.kept_files import FileKeeper
from annotation.models import KeptFile, Rating, User
from metrics.models import ScoreRun
from tests.metrics.world import World

pytestmark = pytest.mark.django_db

TABLE = "system,item,score\nEcho,item-0,0.5\nEcho,item-2,1\nParrot,item-0,0.25\n"


def address(world: World) -> str:
    return reverse("metrics:run-import", args=[world.project.slug])


def export_address(world: World) -> str:
    return reverse("metrics:run-export", args=[world.project.slug, world.dataset.slug])


def form_data(world: World, content: str | bytes = TABLE, filename: str = "comet.csv", **changes: object) -> dict:
    data = content.encode() if isinstance(content, str) else content
    form = {"dataset": world.dataset.slug, "name": "COMET-22", "direction": "higher"}
    form |= {"column-1": "COMET-22", "scale-1": "range", "low-1": "0", "high-1": "1"}
    return form | {"file": SimpleUploadedFile(filename, data)} | changes


def kept(
    world: World, user: User, content: str | bytes = TABLE, filename: str = "comet.csv", **changes: object
) -> dict:
    """Return what the button below a preview sends: the file stays on the server."""
    data = content.encode() if isinstance(content, str) else content
    key = FileKeeper(world.project, user).keep(SimpleUploadedFile(filename, data))
    form = {"action": "store", "kept": key, "scales_of": f"{key} {world.dataset.slug} higher"}
    form = form_data(world, content, **form | changes)
    del form["file"]
    return form


def chosen(offered: list[str], *left: str, **changes: object) -> dict:
    """Return what a page with several columns sends, of which some are left out."""
    return {"name": "", "offered": offered, "take": [name for name in offered if name not in left], **changes}


def page_of(response) -> str:
    return " ".join(response.content.decode().split())


def test_managers_alone_may_import(world: World, viewer, outsider, as_user, client) -> None:
    for method in ("get", "post"):
        assert getattr(as_user(viewer), method)(address(world)).status_code == 403
        assert getattr(as_user(outsider), method)(address(world)).status_code == 404
        assert getattr(client, method)(address(world)).status_code == 302
    assert not ScoreRun.objects.exists()


def test_a_file_is_shown_as_it_was_understood_and_nothing_is_stored(world: World, manager, as_user) -> None:
    client = as_user(manager)
    page = page_of(client.post(address(world), form_data(world)))

    assert "comet.csv holds 1 column of scores" in page
    assert "2 systems matched, 2 of 40 items with a score; of these items 1 score is missing" in page
    assert "Without scores: Human, Quill, Random." in page
    assert "0.7500" in page
    assert f'name="kept" value="file-{KeptFile.objects.get().pk}"' in page
    assert "<strong>comet.csv</strong>" in page
    assert not ScoreRun.objects.exists()


def test_what_was_shown_is_stored_and_opened(world: World, manager, as_user) -> None:
    client = as_user(manager)
    response = client.post(address(world), kept(world, manager))
    assert not KeptFile.objects.exists()
    run = ScoreRun.objects.get()
    assert response.url == reverse("metrics:run-detail", args=[world.project.slug, run.number])
    assert run.requested_by == manager
    page = page_of(client.post(address(world), kept(world, manager), follow=True))
    assert "Opened the existing runs with these scores" in page
    assert ScoreRun.objects.count() == 1


def test_every_bad_row_is_reported(world: World, manager, as_user) -> None:
    page = page_of(
        as_user(manager).post(address(world), form_data(world, TABLE + "Nobody,item-1,0.1\nEcho,item-9x,no\n"))
    )
    assert "Nothing was imported" in page
    assert "Nobody" in page
    assert "Echo, Human, Parrot, Quill, Random" in page
    assert "item-9x" in page
    assert "an item of the data set: item-0, item-1, item-2 and 37 more<" in page


def test_the_accepted_items_are_listed_once(world: World, manager, as_user) -> None:
    rows = "".join(f"Echo,unknown-{number},0.5\n" for number in range(3))
    page = page_of(as_user(manager).post(address(world), form_data(world, "system,item,score\n" + rows)))
    assert page.count("an item of the data set</td>") == 2
    assert page.count("an item of the data set: item-0, item-1, item-2 and 37 more</td>") == 1


def test_a_run_without_segments_shows_none(world: World, manager, as_user) -> None:
    client = as_user(manager)
    page = page_of(
        client.post(address(world), kept(world, manager, "system,score\nEcho,0.5\nParrot,0.25\n"), follow=True)
    )
    assert "scores of systems alone were imported, without items to resample." in page
    assert "Distribution of segment scores" not in page
    assert "Items scored" not in page
    assert "<title>COMET-22 ·" in page


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "name: found nothing"),
        ({"name": "a|b"}, "without |, line breaks"),
        ({"file": ""}, "Found none; accepted: a file with scores."),
        ({"file": "", "kept": "file-0"}, "The file is kept no longer; choose it again."),
        ({"file": "", "kept": "x"}, "The file is kept no longer; choose it again."),
        ({"dataset": "elsewhere"}, "Select a valid choice"),
    ],
)
def test_a_mistake_is_reported_at_its_field(world: World, manager, as_user, changes: dict, message: str) -> None:
    page = page_of(as_user(manager).post(address(world), form_data(world, **changes)))
    assert message in page
    assert "see the marked field" in page
    assert not ScoreRun.objects.exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"low-1": "2"}, "accepted: a number above the lowest, 2"),
        ({"low-1": "", "high-1": ""}, "Scale of COMET-22: found neither end"),
        ({"scale-1": "1-5"}, "Scale of COMET-22: found &#x27;1-5&#x27;; accepted: raters, none or LOW..HIGH"),
    ],
)
def test_a_wrong_scale_is_reported_above_the_preview(world: World, manager, as_user, changes, message) -> None:
    page = page_of(as_user(manager).post(address(world), kept(world, manager, **changes)))
    assert message in page
    assert "Found: 0.25 to 1." in page
    assert not ScoreRun.objects.exists()


@pytest.mark.parametrize(
    "changes", [{"scales_of": "file-0 cats higher"}, {"direction": "lower"}, {"file": SimpleUploadedFile("b.csv", b"")}]
)
def test_scales_of_another_file_or_direction_do_not_count_and_are_shown_anew(
    world: World, manager, as_user, changes: dict
) -> None:
    if "file" in changes:
        changes = {"file": SimpleUploadedFile("b.csv", TABLE.encode())}
    page = page_of(as_user(manager).post(address(world), kept(world, manager) | changes))

    assert "The file or the settings have changed: check the scales again." in page
    assert 'value="none" id="scale-1-2" checked' in page
    key = KeptFile.objects.latest("pk").pk
    assert f'name="scales_of" value="file-{key} {world.dataset.slug} {changes.get("direction", "higher")}"' in page
    assert not ScoreRun.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "message"), [(("5", "1"), "accepted: a number above the lowest"), (("0", "2"), "0 to 2")]
)
def test_one_refused_scale_leaves_the_others_as_entered(world: World, manager, as_user, wrong, message) -> None:
    table = "system,item,judge,COMET\nEcho,item-0,3,0.5\nParrot,item-0,9,0.25\n"
    scales = {"column-1": "judge", "scale-1": "range", "low-1": wrong[0], "high-1": wrong[1]}
    scales |= {"column-2": "COMET", "scale-2": "range", "low-2": "-1", "high-2": "1234567"}
    client = as_user(manager)

    columns = ["judge", "COMET"]
    page = page_of(client.post(address(world), kept(world, manager, table, **chosen(columns), **scales)))

    assert message in page
    assert 'value="none" id="scale-1-2" checked' in page
    assert 'id="low-2" value="-1"' in page
    assert 'id="high-2" value="1234567"' in page
    assert not ScoreRun.objects.exists()
    client.post(address(world), kept(world, manager, table, **chosen(columns, "judge"), **scales))
    assert ScoreRun.objects.get().parameters["highest"] == 1234567  # what is not imported is not checked


def test_the_scale_of_each_column_is_found_proposed_and_confirmed(world: World, manager, as_user) -> None:
    rows = [f"Echo,item-{index},{1 + index % 5},{1 + index},0.{index + 10}\n" for index in range(10)]
    table = "system,item,rated,gpt_judge,BLEU\n" + "".join(rows)
    form = {"name": "", "scale-1": "", "column-1": ""}
    page = page_of(as_user(manager).post(address(world), form_data(world, table, "all.csv", **form)))

    found = page.split("Found: ")[1:]
    assert found[0].startswith(
        "1 to 5, whole numbers. All are whole or half points between 1 and 5, the ends of the raters’ scale, which is"
    )
    assert 'value="1..5" id="scale-1-1" checked> <label for="scale-1-1">On the raters’ scale, 1 to 5<' in found[0]
    assert "These look like points, and their scale is not known.</strong> State the range that the judge" in found[1]
    assert 'value="none" id="scale-2-2" checked' in found[1]  # the raters' scale does not hold them, so is not offered
    assert found[2].startswith("0.1 to 0.19. ")
    chosen = form | {"column-2": "gpt_judge", "scale-2": "range", "low-2": "1", "high-2": "10"}
    as_user(manager).post(address(world), kept(world, manager, table, **chosen))
    ranges = {run.parameters["scorer"]: run for run in ScoreRun.objects.order_by("number")}
    assert [(ranges[name].parameters["lowest"], ranges[name].parameters["highest"]) for name in ranges] == [
        (1, 5),
        (1, 10),
        (None, None),
    ]
    of_run = reverse("metrics:run-detail", args=[world.project.slug, ranges["rated"].number])
    shown = page_of(as_user(manager).get(of_run))
    assert "1 to 5, the raters’ scale, assumed from its values, as the import proposed" in shown
    assert f"/runs/{ranges['rated'].number}/scale/" in shown


def test_an_archive_makes_a_run_of_each_file_whose_directions_are_requested(world: World, manager, as_user) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("metric-scores/x/COMET-refA.sys.score", "Echo\t0.5\n")
        archive.writestr("metric-scores/x/TER-refA.sys.score", "Echo\t0.25\n")
    client = as_user(manager)
    form = form_data(world, buffer.getvalue(), "all.zip", name="")

    page = page_of(client.post(address(world), form))
    assert "all.zip holds 2 columns of scores" in page
    assert page.count('name="lower"') == 2
    confirmed = kept(
        world, manager, buffer.getvalue(), "all.zip", **chosen(["COMET-refA", "TER-refA"], lower=["TER-refA"])
    )
    page = page_of(client.post(address(world), confirmed, follow=True))
    assert "2 score runs imported." in page
    assert {run.parameters["scorer"]: run.parameters["lower_is_better"] for run in ScoreRun.objects.all()} == {
        "COMET-refA": False,
        "TER-refA": True,
    }


def test_columns_of_one_table_are_chosen_beside_the_preview(world: World, manager, as_user) -> None:
    """The table that the reader has: each metric in a column, beside texts."""
    table = "system,item,text,BLEU,judge,length\nEcho,item-0,Hi,0.5,1,7\nParrot,item-0,Ho,0.25,0,9\n"
    client = as_user(manager)

    page = page_of(client.post(address(world), form_data(world, table, "all.csv", name="")))
    assert "all.csv holds 3 columns of scores</h2>" in page
    assert "Left out, since most of their values are no numbers: text." in page
    assert page.count('name="take"') == page.count('name="name-') == 3
    assert ">Import 3 columns of scores</span>" in page
    columns = ["BLEU", "judge", "length"]
    alike = chosen(columns, "length", **{"column-1": "BLEU", "name-1": "judge", "column-2": "judge", "name-2": "judge"})
    page = page_of(client.post(address(world), kept(world, manager, table, **alike)))
    assert "name: found &#x27;judge&#x27; for BLEU and judge; accepted: a name for each" in page
    assert 'name="name-1" id="name-1" value="judge"' in page  # as entered
    assert not ScoreRun.objects.exists()
    client.post(address(world), kept(world, manager, table, **alike | {"name-1": "BLEU-4"}))
    assert {run.parameters["scorer"] for run in ScoreRun.objects.all()} == {"BLEU-4", "judge"}
    page = page_of(client.post(address(world), kept(world, manager, table, **chosen(columns, *columns))))
    assert "Found no column to import; accepted: at least one." in page


def test_raters_columns_are_not_imported_unless_they_are_wanted(world: World, manager, as_user) -> None:
    """The file that the ratings came from has a judge's column, too."""
    of_one = Rating.objects.filter(campaign=world.output_campaign, rater__pseudonym="rater-0", criterion__position=0)
    given = {rating.response_id: rating.value for rating in of_one}
    echo = [given[world.responses["Echo", index].pk] for index in range(40)]
    table = "system,item,Maria,rater-1,BLEU\n" + "".join(
        f"Echo,item-{index},{value:g},{index % 3},0.{index + 10}\n" for index, value in enumerate(echo)
    )
    client = as_user(manager)

    page = page_of(client.post(address(world), form_data(world, table, "all.csv", name="BLEU-4")))
    assert "all.csv holds 1 column of scores and 2 columns of raters</h2>" in page
    assert page.count("look like raters’ ratings") == 1
    both = "values that are ratings of this data set (Maria) and the name of a rater of this data set (rater-1)"
    assert f"2 columns look like raters’ ratings, by {both}. As a metric they" in page
    assert [f'id="take-{number}" checked' in page for number in (1, 2, 3)] == [True, False, False]
    assert "<strong>BLEU</strong>: a metric’s scores," in page
    assert 'name="name-1" id="name-1" value="BLEU-4"' in page  # the only one that is imported has the name
    assert ">Import BLEU’s scores</span>" in page
    columns = ["BLEU", "Maria", "rater-1"]
    look = kept(world, manager, table, "all.csv", **chosen(columns, "rater-1"), action="look")
    page = page_of(client.post(address(world), look))
    assert "<strong>Maria</strong>: a rater’s ratings," in page
    assert [f'id="take-{number}" checked' in page for number in (1, 2, 3)] == [True, True, False]
    name = {"column-1": "BLEU", "name-1": "BLEU-4"}
    client.post(address(world), kept(world, manager, table, **chosen(columns, *columns[1:], **name)))
    assert ScoreRun.objects.get().parameters["scorer"] == "BLEU-4"


def test_pages_of_an_imported_run_open(world: World, manager, viewer, as_user) -> None:
    as_user(manager).post(address(world), kept(world, manager, note="wmt22-comet-da"))
    as_user(manager).post(address(world), kept(world, manager, "system,score\nEcho,0.5\n"))
    client = as_user(viewer)
    for run in ScoreRun.objects.all():
        score = run.scores.get(system__name="Echo")
        page = page_of(client.get(reverse("metrics:run-detail", args=[world.project.slug, run.number])))
        assert "Better" in page
        assert 'stat-label">References' not in page  # which ones a scorer read, its file does not say
        url = reverse("metrics:run-system-detail", args=[world.project.slug, run.number, score.system_id])
        assert client.get(url).status_code == 200
        figure = client.get(reverse("metrics:run-figure", args=[world.project.slug, run.number]))
        assert figure.status_code in (200, 404)
    segments = ScoreRun.objects.get(parameters__level="segment")
    arguments = [world.project.slug, segments.number, world.systems["Echo"].pk, world.items[2].pk]
    assert client.get(reverse("metrics:run-segment", args=arguments)).status_code == 200
    assert "COMET-22" in page_of(client.get(reverse("metrics:run-list", args=[world.project.slug])))


def test_members_download_all_runs(world: World, manager, viewer, outsider, as_user) -> None:
    as_user(manager).post(address(world), kept(world, manager))
    response = as_user(viewer).get(export_address(world))
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as archive:
        assert "cats/metric-scores/cats/COMET-22-src.seg.score" in archive.namelist()
    assert response["Content-Disposition"] == 'attachment; filename="chit-chat-cats-scores.zip"'
    assert as_user(outsider).get(export_address(world)).status_code == 404
    assert as_user(viewer).post(export_address(world)).status_code == 405
