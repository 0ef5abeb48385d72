"""Forms with a file keep what was entered after a refusal, the file included."""

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import tasks
from annotation.core.kept_files import KEPT_EACH, KEPT_HOURS, FileKeeper, kept_files_sweep
from annotation.datasets.services.drafts import UNCONFIRMED_DAYS
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
from annotation.mining.tasks import corpus_index
from annotation.models import (
    Corpus,
    Dataset,
    DatasetImport,
    JobState,
    KeptFile,
    Project,
    RatingImport,
    User,
    WeightsImport,
)
from annotation.references.releases.services.imports import weights_import_execute
from metrics.models import TrainedModel
from metrics.tasks import train_model
from tests.annotation.worlds.datasets import example_dataset

OWN_NAMES = b"question,answer\nHi?,Hello.\n"


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return example_dataset(project)


@pytest.fixture
def client(as_user, manager: User, monkeypatch: pytest.MonkeyPatch) -> Client:
    for name in ("dataset_import_execute", "rating_import_execute", "weights_import_execute"):
        monkeypatch.setattr(getattr(tasks, name), "delay_on_commit", lambda pk: None)
    return as_user(manager)


FORMS = {
    "dataset": (b'{"id": "1"}', "x.jsonl", {"name": "New", "language": "de", "normalisation": "exact"}),
    "ratings": (
        b"rater,item,system,q\nann,1,SystemA,3\n",
        "x.csv",
        {"name": "New", "scale_min": "1"},
    ),
    "weights": (b"item,text,weight\n1,Yes!,0.5\n", "x.csv", {"name": "New", "origin": "A paper", "kind": "human"}),
}
JOBS = {"dataset": DatasetImport, "ratings": RatingImport, "weights": WeightsImport}


def address(kind: str, dataset: Dataset) -> str:
    slug = dataset.project.slug
    if kind == "ratings":
        return reverse("annotation:rating-import", args=[slug, dataset.slug])
    if kind == "dataset":
        return reverse("annotation:dataset-import", args=[slug])
    return f"{reverse('annotation:reference-set-import', args=[slug])}?dataset={dataset.slug}"


@pytest.mark.parametrize("kind", FORMS)
def test_a_refused_form_keeps_its_entries_and_its_file_until_it_is_accepted(
    client: Client, dataset: Dataset, kind: str
) -> None:
    content, filename, fields = FORMS[kind]
    wrong = fields | ({"normalisation": "none"} if kind == "dataset" else {"name": ""})
    page = client.post(address(kind, dataset), wrong | {"file": SimpleUploadedFile(filename, content)}).content.decode()
    kept = KeptFile.objects.get()
    assert (bytes(kept.content), kept.filename) == (content, filename)
    assert f"<strong>{filename}</strong>" in page
    assert f"(about {KEPT_HOURS} hours more); if it is" in " ".join(page.split())
    key = re.search('name="kept" value="([^"]+)"', page)[1]
    for value in filter(None, wrong.values()):
        assert value in page

    page = client.post(address(kind, dataset), wrong | {"kept": key}).content.decode()
    assert f'name="kept" value="{key}"' in page
    assert KeptFile.objects.get() == kept

    assert client.post(address(kind, dataset), fields | {"kept": key}).status_code == 302
    job = JOBS[kind].objects.get()
    assert (bytes(job.content), job.filename) == (content, filename)
    assert not KeptFile.objects.exists()


@pytest.mark.parametrize(
    ("name", "query", "content", "filename", "fields", "model"),
    [
        (
            *("annotation:corpus-create", ""),
            *(b'{"message": "Hi?", "response": "Hello."}\n', "pool.jsonl"),
            {"language": "en", "tokenizer": "words", "k1": "1.2", "b": "0.75", "header": "on"},
            Corpus,
        ),
        (
            *("metrics:model-create", "?kind=language_model&from=texts"),
            *(b"A text.\nAnother text.\n", "news.txt"),
            {"option_order": "2", "option_prune": "0", "option_tokenize": "whitespace"},
            TrainedModel,
        ),
    ],
    ids=["corpus", "model"],
)
def test_corpora_and_models_keep_a_refused_file_too(
    client: Client, project: Project, monkeypatch, name, query, content, filename, fields, model
) -> None:
    for task in (corpus_index, train_model):
        monkeypatch.setattr(task, "delay_on_commit", lambda pk: None)
    where = reverse(name, args=[project.slug]) + query
    page = client.post(where, fields | {"file": SimpleUploadedFile(filename, content)}).text
    assert re.search(r"Give the (corpus|model) a name\.", page)
    assert f"<strong>{filename}</strong>" in page
    key = re.search('name="kept" value="([^"]+)"', page)[1]
    answer = client.post(where, fields | {"name": "Pool", "kept": key})
    assert answer.status_code == 302, re.findall(r"errorlist[^>]*>(.*?)</ul>", answer.text, re.DOTALL)
    assert bytes(model.objects.get().content) == content
    assert not KeptFile.objects.exists()


def test_another_file_takes_the_place_of_the_kept_one(client: Client, dataset: Dataset) -> None:
    content, filename, fields = FORMS["dataset"]
    wrong = fields | {"normalisation": "none"}
    client.post(address("dataset", dataset), wrong | {"file": SimpleUploadedFile(filename, content)})
    key = f"file-{KeptFile.objects.get().pk}"
    client.post(
        address("dataset", dataset), wrong | {"kept": key, "file": SimpleUploadedFile("other.jsonl", b'{"id": "2"}')}
    )
    assert KeptFile.objects.get().filename == "other.jsonl"


@pytest.mark.parametrize("key", ["file-0", "import-0", "file-x", "nonsense", "file-" + "9" * 19])
def test_a_file_that_is_kept_no_longer_is_asked_for_again(client: Client, dataset: Dataset, key: str) -> None:
    page = client.post(address("dataset", dataset), FORMS["dataset"][2] | {"kept": key}).content.decode()
    assert "The file is kept no longer; choose it again." in page
    assert not DatasetImport.objects.exists()


def test_a_kept_file_is_its_users_in_its_project_alone(project: Project, manager: User, viewer: User, outsider) -> None:
    key = FileKeeper(project, manager).keep(SimpleUploadedFile("x.csv", b"x"))
    assert FileKeeper(project, manager).find(key).read() == b"x"
    other = outsider.memberships.get().project
    for keeper in (FileKeeper(project, viewer), FileKeeper(other, manager), FileKeeper(other, outsider)):
        assert keeper.find(key) is None
        keeper.forget(key)
    assert KeptFile.objects.exists()


def test_old_files_make_room_and_are_swept(project: Project, manager: User) -> None:
    keeper = FileKeeper(project, manager)
    keys = [keeper.keep(SimpleUploadedFile(f"{number}.csv", b"x")) for number in range(KEPT_EACH + 1)]
    assert keeper.find(keys[0]) is None
    assert keeper.find(keys[1]) is not None
    newest = KeptFile.objects.order_by("-pk")[0]
    KeptFile.objects.exclude(pk=newest.pk).update(kept_at=timezone.now() - timedelta(hours=KEPT_HOURS, seconds=1))
    kept_files_sweep()
    assert KeptFile.objects.get() == newest


@pytest.mark.parametrize("kind", ["dataset", "weights"])
def test_a_refused_import_is_repeated_with_its_entries_and_its_file(
    client: Client, dataset: Dataset, kind: str
) -> None:
    content, filename, fields = FORMS[kind]
    broken = content.replace(b"0.5", b"7").replace(b'"1"', b"[]")
    client.post(address(kind, dataset), fields | {"file": SimpleUploadedFile(filename, broken)})
    job = JOBS[kind].objects.get()
    {"dataset": dataset_import_execute, "weights": weights_import_execute}[kind](import_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    page = client.get(reverse(f"annotation:{kind}-import-detail", args=[dataset.project.slug, job.pk])).content.decode()
    again = re.search(r'href="([^"]+again=\d+)"', page)[1].replace("&amp;", "&")

    page = client.get(again).content.decode()
    for text in (f"<strong>{filename}</strong>", f'name="kept" value="import-{job.pk}"', *fields.values()):
        assert text in page
    assert client.post(again, fields | {"kept": f"import-{job.pk}"}).status_code == 302
    assert bytes(JOBS[kind].objects.latest("pk").content) == broken


def test_an_import_of_another_project_fills_no_form(client: Client, dataset: Dataset, outsider: User) -> None:
    other = outsider.memberships.get().project
    job = dataset_import_create(project=other, by=outsider, name="Secret", filename="s.jsonl", content=b"{}")
    page = client.get(address("dataset", dataset), {"again": job.pk}).content.decode()
    assert "Secret" not in page
    assert "s.jsonl" not in page
    for number in ("x", "9" * 30):
        assert client.get(address("dataset", dataset), {"again": number}).status_code == 200
    page = client.post(address("dataset", dataset), FORMS["dataset"][2] | {"kept": f"import-{job.pk}"}).content.decode()
    assert "choose it again" in page


def test_files_that_await_confirmation_are_on_the_front_page_and_deleted_in_time(
    client: Client, dataset: Dataset
) -> None:
    project = dataset.project
    client.post(address("dataset", dataset), FORMS["dataset"][2] | {"file": SimpleUploadedFile("chats.csv", OWN_NAMES)})
    dataset_import_execute(import_id=DatasetImport.objects.get().pk)
    content, _, fields = FORMS["ratings"]
    client.post(address("ratings", dataset), fields | {"file": SimpleUploadedFile("judged.csv", content)})
    page = client.get(reverse("annotation:project-detail", args=[project.slug])).content.decode()
    assert "“chats.csv” is uploaded, but not imported" in page
    assert "The ratings in “judged.csv” are uploaded, but not imported" in page
    for kind, model in (("dataset", DatasetImport), ("rating", RatingImport)):
        job = model.objects.get()
        url = reverse(f"annotation:{kind}-import-detail", args=[project.slug, job.pk])
        assert f'href="{url}"' in page
        until = timezone.localtime(job.finished_at + timedelta(days=UNCONFIRMED_DAYS))
        shown = " ".join(client.get(url).content.decode().split())
        assert f">{until.day} {until:%B %Y}</time>; if it is not imported by then" in shown

    tasks.sweep()
    assert DatasetImport.objects.count() == RatingImport.objects.count() == 1
    late = timezone.now() - timedelta(days=UNCONFIRMED_DAYS, seconds=1)
    for model in (DatasetImport, RatingImport):
        cancelled = model.objects.get()
        cancelled.pk, cancelled.report = None, {}
        cancelled.save()  # one that a person has cancelled stays
        model.objects.update(finished_at=late)
    tasks.sweep()
    assert [model.objects.get().report for model in (DatasetImport, RatingImport)] == [{}, {}]
