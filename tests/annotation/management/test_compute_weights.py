import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Release
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate


@pytest.fixture
def dataset(project):
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    response = make_response(make_item(dataset, "i1"), "A fine answer.", "Human")
    for rater, value in (("ann", 4), ("bob", 5), ("mallory", 1)):
        rate(campaign, rater, response, value)
    return dataset


def run(**options):
    out = io.StringIO()
    call_command("compute_weights", project="chit-chat", verbosity=0, stdout=out, **options)
    return out.getvalue()


NEW = {"dataset": "replies", "name": "R", "campaign": ["Quality"], "source": ["Human"], "original": ["Human"]}


def test_the_command_creates_a_set_releases_it_and_prints_json(dataset, project, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps([{"rule": "exclude_raters", "version": 1, "raters": ["mallory"]}]))
    record = json.loads(run(**NEW, rules=rules, json=True))
    assert (record["reference_set"], record["number"], record["method"]) == ("r", 1, "linear")
    assert record["report"]["ratings"]["kept"] == 2
    assert Release.objects.get().weights.get().weight == 0.75
    assert "R v2" in run(reference_set="r")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference_set": "nope"}, "--reference-set: found 'nope'; accepted: none is there yet"),
        ({}, "Give --reference-set, or --dataset"),
        ({**NEW, "campaign": ["Charm"]}, "--campaign: found 'Charm'; accepted: Quality"),
        ({**NEW, "source": ["Robot"]}, "has no system 'Robot'; it has: Human"),
    ],
)
def test_invalid_options_are_refused(dataset, options, message):
    with pytest.raises(CommandError, match=message):
        run(**options)


def test_a_rules_file_that_is_not_json_is_refused_by_name(dataset, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text("[")
    with pytest.raises(CommandError, match=r"rules\.json is not JSON"):
        run(**NEW, rules=rules)
