import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Release
from tests.annotation.worlds.rated import make_dataset, make_item, make_response


@pytest.fixture
def dataset(project, manager):
    dataset = make_dataset(project)
    make_response(make_item(dataset, "i1"), "Fine.", "human")
    return dataset


@pytest.fixture
def run(dataset, manager, tmp_path):
    def called(content, *, filename="w.csv", **options):
        path = tmp_path / filename
        path.write_text(content, encoding="utf-8")
        out = io.StringIO()
        asked = {"project": "chit-chat", "user": manager.username, "dataset": "replies", "name": "Theirs", **options}
        call_command("import_references", str(path), stdout=out, **asked)
        return out.getvalue()

    return called


def test_it_imports_weights_and_says_what_it_made(run):
    told = run("item,text,weight\ni1,Fine.,-0.5\n", origin="A paper")
    release = Release.objects.get()
    assert told.splitlines()[:2] == ["theirs/v1: 1 weights imported", "  1 of 1 items have no positive weight"]
    assert release.content_hash in told
    record = json.loads(run("i1\t1\tFine.\n", filename="w.tsv", name="", reference_set="theirs", json=True))
    assert (record["release"], record["report"]["imported"]["filename"]) == ("theirs/v2", "w.tsv")


def test_it_refuses_with_every_bad_row_and_stores_nothing(run):
    with pytest.raises(CommandError) as refusal:
        run("item,text,weight\ni1,Fine.,2\ni1,Unheard of.,x\n")
    assert "w.csv:2  weight: found 2; accepted: a number from -1 to 1" in str(refusal.value)
    assert "w.csv:3  weight: found x" in str(refusal.value)
    assert not Release.objects.exists()


def test_it_adds_texts_when_told_to(run, dataset):
    run("item,text,weight\ni1,Unheard of.,1\n", add_texts=True, kind="mined")
    assert Release.objects.get().weights.get().response.sources.get().kind == "mined"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dataset": "nowhere"}, "--dataset: found 'nowhere'; accepted: replies"),
        ({"reference_set": "nowhere"}, "--reference-set: found 'nowhere'; accepted: none is there yet"),
        ({"name": ""}, "Found 0 characters; accepted: 1 to 120"),
        ({"user": "nobody"}, "accepted: a manager or owner"),
    ],
)
def test_it_says_what_it_accepts(run, options, message):
    with pytest.raises(CommandError, match=message):
        run("item,text,weight\ni1,Fine.,1\n", **options)
