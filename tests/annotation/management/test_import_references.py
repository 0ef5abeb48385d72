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
    def run_command(content, *, filename="w.csv", **options):
        path = tmp_path / filename
        path.write_text(content, encoding="utf-8")
        out = io.StringIO()
        arguments = {
            "project": "chit-chat",
            "user": manager.username,
            "dataset": "replies",
            "name": "Theirs",
            **options,
        }
        call_command("import_references", str(path), stdout=out, **arguments)
        return out.getvalue()

    return run_command


def test_weights_are_imported_and_reported(run):
    output = run("item,text,weight\ni1,Fine.,-0.5\n", origin="A paper")
    release = Release.objects.get()
    assert output.splitlines()[:2] == ["theirs/v1: 1 weights imported", "  1 of 1 items have no positive weight"]
    assert release.content_hash in output
    record = json.loads(run("i1\t1\tFine.\n", filename="w.tsv", name="", reference_set="theirs", json=True))
    assert (record["release"], record["report"]["imported"]["filename"]) == ("theirs/v2", "w.tsv")


def test_every_bad_row_is_reported_and_nothing_is_stored(run):
    with pytest.raises(CommandError) as refusal:
        run("item,text,weight\ni1,Fine.,2\ni1,Unheard of.,x\n")
    assert "w.csv:2  weight: found 2; accepted: a number from -1 to 1" in str(refusal.value)
    assert "w.csv:3  weight: found x" in str(refusal.value)
    assert not Release.objects.exists()


def test_unknown_texts_can_be_added(run, dataset):
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
def test_invalid_options_are_refused_with_the_accepted_ones(run, options, message):
    with pytest.raises(CommandError, match=message):
        run("item,text,weight\ni1,Fine.,1\n", **options)
