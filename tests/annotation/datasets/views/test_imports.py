import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation import tasks
from annotation.datasets.services.imports import dataset_import_execute
from annotation.datasets.views.imports import DATASET_EXAMPLES, RATING_EXAMPLES
from annotation.judgements.services.imports import rating_import_execute
from annotation.models import Campaign, Dataset, DatasetImport, JobState, Project, RatingImport, User
from annotation.overview.closing import ways_on
from tests.annotation.worlds.datasets import EXAMPLES, example_dataset

HTMX = {"HX-Request": "true"}


def url(name: str, *args: object) -> str:
    return reverse(f"annotation:{name}", args=args)


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Record jobs instead of queueing them."""
    jobs: list[tuple[str, int]] = []
    for name in ("dataset_import_execute", "rating_import_execute"):
        task = getattr(tasks, name)
        monkeypatch.setattr(task, "delay_on_commit", lambda pk, name=name: jobs.append((name, pk)))
    return jobs


def upload(client, project: Project, content: bytes, filename: str = "items.jsonl", **fields):
    data = {
        "name": "My data",
        "file": SimpleUploadedFile(filename, content),
        "language": "en",
        "normalisation": "nfc-space",
        **fields,
    }
    return client.post(url("dataset-import", project.slug), data)


def upload_ratings(client, project: Project, dataset: Dataset, content: bytes, **fields):
    data = {"name": "Judged", "file": SimpleUploadedFile("r.csv", content), "scale_min": 1, "scale_max": 5, **fields}
    return client.post(url("rating-import", project.slug, dataset.slug), data)


def test_an_upload_is_queued_and_redirects_to_the_data_set_when_done(as_user, project, manager: User, queued) -> None:
    client = as_user(manager)
    answer = upload(client, project, (EXAMPLES / "dataset.jsonl").read_bytes())
    job = DatasetImport.objects.get()
    assert queued == [("dataset_import_execute", job.pk)]
    page = url("dataset-import-detail", project.slug, job.pk)
    assert answer.headers["Location"] == page
    assert "Queued" in client.get(page).content.decode()
    assert f'hx-get="{page}"' in client.get(page, headers=HTMX).content.decode()
    dataset_import_execute(import_id=job.pk)
    assert client.get(page, headers=HTMX).headers["HX-Redirect"] == url("dataset-detail", project.slug, "my-data")
    assert "Everything was imported." in client.get(page).content.decode()


def test_a_refused_file_shows_line_field_found_and_accepted(as_user, project: Project, manager: User, queued) -> None:
    client = as_user(manager)
    upload(client, project, b'{"id": "1"}\n{"id": "2", "split": 7}\n', name="")
    job = DatasetImport.objects.get()
    assert job.name == "items"  # as the file
    dataset_import_execute(import_id=job.pk)
    address = url("dataset-import-detail", project.slug, job.pk)
    page = client.get(address, headers=HTMX).content.decode()
    for text in ("Nothing was imported", "items.jsonl", "<code>split</code>", ">7<", ">a text<", "Upload again"):
        assert text in page
    assert "hx-trigger" not in page
    errors = json.loads(client.get(address, {"format": "json"}).getvalue())
    assert [(error["line"], error["field"]) for error in errors] == [(2, "split")]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"filename": "items.xlsx"}, "does not say the format: choose one"),
        ({"name": "Small"}, "has a data set &#x27;small&#x27; already"),
        ({"name": "日本"}, "at least one letter or digit"),
        ({"content": b""}, "The submitted file is empty."),
    ],
)
def test_a_bad_form_shows_errors_at_its_fields(as_user, project, manager, queued, fields: dict, message: str) -> None:
    example_dataset(project)
    answer = upload(as_user(manager), project, **{"content": b'{"id": "1"}', **fields})
    assert answer.status_code == 200
    assert message in answer.content.decode()
    assert not DatasetImport.objects.exists()
    assert queued == []


def test_a_file_over_the_limit_is_refused(as_user, project, manager, queued, settings) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    assert "accepted: at most 10" in upload(as_user(manager), project, b'{"id": "12345"}').content.decode()


def test_ratings_are_shown_before_they_are_imported_into_a_campaign(
    as_user, project: Project, manager: User, viewer: User, queued
) -> None:
    dataset = example_dataset(project)
    client = as_user(manager)
    rows = b"Judge,item,system,q,comment\nann,1,SystemA,3,good\nann,1,Alias,3,fine\n"
    upload_ratings(client, project, dataset, rows, aliases="Alias = SystemA")
    job = RatingImport.objects.get()
    page = url("rating-import-detail", project.slug, job.pk)
    shown = client.get(page).content.decode()
    assert (
        "This looks like one rating a row: 1 rater, 1 criterion, 2 judgements of 1 response of this data set." in shown
    )
    assert "rater = Judge" in shown
    assert "Import 1 rater’s ratings" in shown
    assert "Import 1 rater’s ratings" not in as_user(viewer).get(page).content.decode()
    assert queued == []
    assert not Campaign.objects.exists()

    assert as_user(viewer).post(url("rating-import-confirm", project.slug, job.pk)).status_code == 403
    client = as_user(manager)
    for _ in range(2):  # a double click is one import
        assert client.post(url("rating-import-confirm", project.slug, job.pk)).headers["Location"] == page
    assert queued == [("rating_import_execute", job.pk)]
    rating_import_execute(import_id=job.pk)
    campaign = Campaign.objects.get()
    assert client.get(page, headers=HTMX).headers["HX-Redirect"] == url("campaign-detail", project.slug, campaign.pk)
    assert "Judgements made under another name" in client.get(page).content.decode()
    assert campaign.criteria.get().name == "q"


FOLDED = "<details> <summary>More reading options"
OTHER_SCORES = b"item,system,score\n1,SystemA,2\n"


def test_raters_and_judges_of_one_file_are_imported_one_after_the_other(as_user, project, manager, queued) -> None:
    client, dataset = as_user(manager), example_dataset(project)
    upload_ratings(client, project, dataset, b"item,system,ann,bo,gpt_judge,llm_judge\n1,SystemA,4,3,5,2\n")
    job = RatingImport.objects.get()
    page = " ".join(client.get(url("rating-import-detail", project.slug, job.pk)).content.decode().split())
    raters, judge = (
        "<dt>Raters</dt><dd>ann, bo: their ratings are imported here</dd>",
        "<dd>gpt_judge, llm_judge: their scores",
    )
    assert page.index(raters) < page.index(judge) < page.index("The first ratings")
    assert "Import 2 raters’ ratings" in page
    assert 'value="ann, bo" ' in page  # the columns taken, where the judge's can be added
    assert FOLDED in page
    again = url("rating-import-read-again", project.slug, job.pk)
    refused = client.post(again, {"raters": "ann, cy"}, follow=True).content.decode()
    assert "Read like this, nothing can be imported." in refused
    assert FOLDED not in " ".join(refused.split())
    client.post(again, {"shape": "raters", "raters": "ann, bo", "scale_min": 1, "scale_max": 5})

    client.post(url("rating-import-confirm", project.slug, job.pk))
    rating_import_execute(import_id=job.pk)
    campaign = Campaign.objects.get()
    first, next_step, *_ = ways_on(campaign)
    assert first.action == "See the results"
    assert next_step.action == "Import 2 judges’ scores"
    form = client.get(next_step.url).content.decode()
    assert f'name="kept" value="import-{job.pk}"' in form
    assert f'<option value="{dataset.slug}" selected' in form
    file = {"dataset": dataset.slug, "direction": "higher", "action": "store"}
    client.post(next_step.url, file | {"name": "llm_judge", "file": SimpleUploadedFile(job.filename, OTHER_SCORES)})
    assert ways_on(campaign)[1].action == "Import 2 judges’ scores", "another file of that name"
    columns = {"kept": f"import-{job.pk}", "offered": ["ann", "bo", "gpt_judge", "llm_judge"]}
    client.post(next_step.url, file | columns | {"take": "gpt_judge", "column-1": "gpt_judge", "name-1": "GPT-4"})
    next_step = ways_on(campaign)[1]
    assert next_step.action == "Import llm_judge’s scores"
    answer = client.post(next_step.url, file | columns | {"take": "llm_judge"})
    assert answer.status_code == 302
    names = [run.parameters["scorer"] for run in campaign.project.score_runs.order_by("number")]
    assert names == ["llm_judge", "GPT-4"], "the other file had the same scores"
    assert not any("judge" in step.action for step in ways_on(campaign))


def test_columns_left_out_are_named_in_the_files_order(as_user, project, manager, queued) -> None:
    client = as_user(manager)
    content = b'{"dialogue": ["Hi"], "references": ["No"], "model_a": "Sure", "Maria": 4, "Tom": 3, "Yuki": 5}\n'
    page = client.get(url("dataset-import-detail", project.slug, waiting(client, project, content).pk)).content.decode()
    assert "Maria, Tom, Yuki" in page


def test_a_draft_upload_can_be_read_again_or_discarded(as_user, project, manager, outsider, queued) -> None:
    dataset = example_dataset(project)
    client = as_user(manager)
    upload_ratings(client, project, dataset, b"item,system,ann\n1,SystemA,4.5\n1,SystemZ,2\n")
    job = RatingImport.objects.get()
    page, read_again, discard = (
        url(f"rating-import-{name}", project.slug, job.pk) for name in ("detail", "read-again", "discard")
    )
    shown = client.get(page).content.decode()
    assert "This looks like a column for each rater" in shown
    assert "SystemZ" in shown
    assert "rater’s ratings" not in shown

    assert "accepted: a lower end" in client.post(read_again, {"scale_min": 5, "scale_max": 1}).content.decode()
    client.post(read_again, {"aggregate": "median", "only_systems": "SystemA"})
    shown = client.get(page).content.decode()
    assert "This looks like medians only: 1 criterion, 1 median of 1 response of this data set." in shown
    assert "Import the medians" in shown

    assert as_user(outsider).post(discard).status_code == 404
    client = as_user(manager)
    assert "nothing was imported" in client.post(discard, follow=True).content.decode()
    assert not RatingImport.objects.exists()
    assert queued == []


def test_a_confirmed_upload_can_be_neither_discarded_nor_read_again(as_user, project, manager, queued) -> None:
    dataset = example_dataset(project)
    client = as_user(manager)
    upload_ratings(client, project, dataset, (EXAMPLES / "ratings.csv").read_bytes())
    job = RatingImport.objects.get()
    client.post(url("rating-import-confirm", project.slug, job.pk))
    for name in ("discard", "read-again"):
        answer = client.post(url(f"rating-import-{name}", project.slug, job.pk), follow=True)
        assert "accepted: a file that is not confirmed" in answer.content.decode()
    assert RatingImport.objects.get().state == JobState.QUEUED


@pytest.mark.parametrize("name", [name for name in RATING_EXAMPLES if name != "ratings.csv"])
def test_every_example_is_recognised_and_can_be_imported(as_user, project, manager, queued, name: str) -> None:
    dataset = example_dataset(project)
    client = as_user(manager)
    file = SimpleUploadedFile(name, (EXAMPLES / name).read_bytes())
    client.post(url("rating-import", project.slug, dataset.slug), {"name": "Judged", "file": file})
    job = RatingImport.objects.get()
    assert job.report["preview"]["errors"] == []
    client.post(url("rating-import-confirm", project.slug, job.pk))
    rating_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.DONE, "")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scale_max": 1}, "found 1 to 1; accepted: a lower end below the upper end"),
        ({"aliases": "TeamEC: TeamCE"}, "Line 1: found &#x27;TeamEC: TeamCE&#x27;; accepted: name = other name."),
        ({"columns": "judge = rater"}, "found &#x27;judge&#x27;; accepted: rater, item"),
    ],
)
def test_bad_rating_options_are_reported(as_user, project, manager, queued, fields: dict, message: str) -> None:
    answer = upload_ratings(as_user(manager), project, example_dataset(project), b"x", **fields)
    assert message in answer.content.decode()
    assert not RatingImport.objects.exists()


def test_an_import_can_be_cancelled(as_user, project: Project, manager: User, viewer: User, queued) -> None:
    upload(as_user(manager), project, b'{"id": "1"}')
    job = DatasetImport.objects.get()
    address = url("dataset-import-cancel", project.slug, job.pk)
    assert as_user(viewer).post(address).status_code == 403
    assert as_user(manager).get(address).status_code == 405
    as_user(manager).post(address)
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED


def test_viewers_may_not_upload_and_outsiders_get_404(as_user, project, viewer, outsider, manager, queued) -> None:
    dataset = example_dataset(project)
    assert upload(as_user(viewer), project, b"{}").status_code == 403
    assert upload_ratings(as_user(viewer), project, dataset, b"x").status_code == 403
    assert upload(as_user(outsider), project, b"{}").status_code == 404
    upload(as_user(manager), project, b'{"id": "1"}')
    job = DatasetImport.objects.get()
    assert as_user(viewer).get(url("dataset-import-detail", project.slug, job.pk)).status_code == 200
    assert as_user(outsider).get(url("dataset-import-detail", project.slug, job.pk)).status_code == 404
    assert as_user(outsider).get(url("dataset-import-detail", "elsewhere", job.pk)).status_code == 404


def test_the_examples_can_be_downloaded(client) -> None:
    for name in (*DATASET_EXAMPLES, *RATING_EXAMPLES):
        assert client.get(url("import-example", name)).getvalue() == (EXAMPLES / name).read_bytes()
    assert client.get(url("import-example", "README.md")).status_code == 404


# --- What the fields of a file mean -----------------------------------------------------------------------------------

DIALOGUES = (
    b'{"dialogue": ["Hi", "Tea?"], "references": ["No"], "model_a": "Sure", "model_b": "Never", "url": "x.org/1"}\n'
    b'{"dialogue": ["Bye"], "references": [], "model_a": "Ciao", "model_b": "Bye", "url": "x.org/2"}\n'
)
MEANINGS = ("dialogue", "references", "output", "output", "ignore")


def waiting(client, project: Project, content: bytes = DIALOGUES, **fields: object) -> DatasetImport:
    upload(client, project, content, **fields)
    job = DatasetImport.objects.latest("pk")
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    return job


def chosen(*meanings: str, systems: dict[int, str] | None = None) -> dict[str, str]:
    named = {f"system-{number}": name for number, name in (systems or {}).items()}
    return {f"meaning-{number}": meaning for number, meaning in enumerate(meanings)} | named


def test_other_names_wait_for_a_persons_choice_and_nothing_is_imported_before(
    as_user, project: Project, manager: User, viewer: User, queued
) -> None:
    client = as_user(manager)
    job = waiting(client, project)
    page, choose = url("dataset-import-detail", project.slug, job.pk), url("dataset-import-map", project.slug, job.pk)
    assert client.get(page, headers=HTMX).headers["HX-Refresh"] == "true"
    shown = client.get(page).content.decode()
    assert all(text in shown for text in ("What the fields mean", "Output of model_a", "Left out: <code>url</code>"))
    assert "Waits for you" in client.get(url("dataset-list", project.slug)).content.decode()
    assert "Import as “" not in as_user(viewer).get(page).content.decode()
    assert as_user(viewer).post(choose, chosen(*MEANINGS)).status_code == 403

    client = as_user(manager)
    looked = client.post(choose, chosen(*MEANINGS, systems={2: "GPT"}) | {"look": "1"}).content.decode()
    assert "Output of GPT" in looked
    refused = client.post(choose, chosen("dialogue", "dialogue", "output", "output", "ignore")).content.decode()
    assert "accepted: one field with the meaning dialogue" in refused
    assert not Dataset.objects.exists()

    for _ in range(2):  # a double click is one import
        assert client.post(choose, chosen(*MEANINGS, systems={2: "GPT"})).headers["Location"] == page
    assert queued == [("dataset_import_execute", job.pk)] * 2
    dataset_import_execute(import_id=job.pk)
    dataset = Dataset.objects.get()
    assert sorted(dataset.systems.values_list("name", flat=True)) == ["GPT", "model_b"]
    assert [(item.external_id, item.context, item.message) for item in dataset.items.all()] == [
        ("1", ["Hi"], "Tea?"),
        ("2", [], "Bye"),
    ]
    assert "Output of a system: GPT" in client.get(page).content.decode()

    again = waiting(client, project, name="More")
    assert again.report["look"]["mapping"]["model_a"] == "output:GPT"
    assert (
        "its choices are proposed again"
        in client.get(url("dataset-import-detail", project.slug, again.pk)).content.decode()
    )


def test_numbers_beside_the_texts_are_the_next_step_and_their_file_is_not_chosen_again(
    as_user, project, manager, queued
) -> None:
    client = as_user(manager)
    content = b"""item,context,system,response,ann,bo,gpt_judge\n1,Hi,A,Yes,4,3,2\n1,Hi,B,No,2,5,4\n"""
    upload(client, project, content, filename="study.csv", name="Study")
    job = DatasetImport.objects.get()
    dataset_import_execute(import_id=job.pk)
    client.post(
        url("dataset-import-map", project.slug, job.pk),
        chosen("id", "message", "system", "text", "ignore", "ignore", "ignore"),
    )
    dataset_import_execute(import_id=job.pk)
    dataset = Dataset.objects.get()
    page, form_url = (url(name, project.slug, dataset.slug) for name in ("dataset-detail", "rating-import"))
    shown = client.get(page).content.decode()
    assert "“study.csv” holds numbers, too." in shown
    assert "ann and bo: if people rated, import their ratings." in shown
    assert "gpt_judge: by the name, scores of a judge or a metric." in shown
    scores = re.search(r'href="([^"]+texts=\d+)">Import scores', shown)[1]
    assert "<strong>study.csv</strong>" in client.get(scores.replace("&amp;", "&")).content.decode()
    assert f'href="{form_url}?texts={job.pk}"' in shown
    form = client.get(f"{form_url}?texts={job.pk}").content.decode()
    assert "<strong>study.csv</strong>" in form
    assert 'value="Imported ratings"' in form
    assert "study.csv" not in client.get(f"{form_url}?texts={job.pk + 1}").content.decode()

    client.post(form_url, {"name": "Imported ratings", "kept": f"texts-{job.pk}"})
    ratings = RatingImport.objects.get()
    client.post(url("rating-import-confirm", project.slug, ratings.pk))
    rating_import_execute(import_id=ratings.pk)
    assert Campaign.objects.get().ratings.count() == 4
    assert "holds numbers, too" not in client.get(page).content.decode()


def test_a_refused_file_can_be_given_meanings_or_be_discarded(as_user, project, manager, outsider, queued) -> None:
    client = as_user(manager)
    job = waiting(client, project, b'{"id": "1", "message": "Hi"}\n{"id": "2", "mesage": "Ho"}\n')
    page, ask, discard = (url(f"dataset-import-{name}", project.slug, job.pk) for name in ("detail", "ask", "discard"))
    shown = client.get(page).content.decode()
    assert "(did you mean message?)" in shown
    assert "Choose what each field means" in shown
    client.post(ask)
    dataset_import_execute(import_id=job.pk)
    assert "What the fields mean" in client.get(page).content.decode()

    assert as_user(outsider).post(discard).status_code == 404
    client = as_user(manager)
    assert "nothing was imported" in client.post(discard, follow=True).content.decode()
    assert not DatasetImport.objects.exists()


def test_errors_of_a_mapped_file_name_the_persons_field_and_the_meanings_can_be_changed(
    as_user, project, manager, queued
) -> None:
    client = as_user(manager)
    job = waiting(client, project, DIALOGUES + b'{"dialogue": ["Hm"], "model_a": 7}\n')
    client.post(url("dataset-import-map", project.slug, job.pk), chosen(*MEANINGS))
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert [(row["line"], row["field"]) for row in job.report["errors"]] == [(3, "model_a")]
    assert not Dataset.objects.exists()
    client.post(url("dataset-import-ask", project.slug, job.pk))
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.report["look"]["mapping"]["model_a"] == "output:model_a"


def test_an_import_without_an_id_names_the_likely_field_beside_the_button(as_user, project, manager, queued) -> None:
    rows = [
        f'{{"dialogue": "d{item}", "question": "Tea or coffee, {item}?", "system": "{system}", "text": "{system}!"}}'
        for item in (1, 2)
        for system in ("A", "B")
    ]
    client = as_user(manager)
    job = waiting(client, project, "\n".join(rows).encode())
    assert job.report["look"]["mapping"]["dialogue"] == "id"
    choose = url("dataset-import-map", project.slug, job.pk)
    first = client.get(url("dataset-import-detail", project.slug, job.pk)).content.decode()
    assert "alert-danger" not in first  # nothing was done yet
    without = chosen("ignore", "message", "system", "text")
    refused = client.post(choose, without).content.decode()
    problem = refused.partition('id="mapping-problem"')[2].partition("form-actions")[0]
    assert "No field is the id of the item. Is “dialogue” the id?" in problem
    assert " ".join(problem.split()).count('tabindex="-1" autofocus') == 1
    changed = client.post(choose, without, headers=HTMX).content.decode()
    assert 'id="mapping-problem" hx-swap-oob="true"' in changed
    assert "autofocus" not in changed
    assert not Dataset.objects.exists()
