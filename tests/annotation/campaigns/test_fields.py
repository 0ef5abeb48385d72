"""Every field in the table of fields is exported, copied, frozen and set in a step of the design."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from annotation.campaigns.fields.table import CAMPAIGN, CRITERION
from annotation.campaigns.forms import STEPS
from annotation.campaigns.services.copies import campaign_clone, campaign_import
from annotation.campaigns.services.documents import campaign_export
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.writing import campaign_create
from annotation.core.canonical import canonical_json
from annotation.models import Campaign, Criterion, Project
from tests.annotation.campaigns.services.test_drafts import full_draft
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

PLAIN = [name for name, field in CAMPAIGN.items() if not field.related]
UNSET = ("reference_kinds", "writing")  # the full draft is about systems, and has pairs and checks
# Exported and launched by version 1.0 of the design, before there was a table.
VERSION_1 = json.loads((Path(__file__).parents[2] / "data" / "campaign_designs.json").read_text())


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return campaign_create(project=project, draft=full_draft(project))


def test_the_full_draft_sets_every_field(project: Project) -> None:
    draft = full_draft(project)
    assert [name for name in PLAIN if getattr(draft, name) == CAMPAIGN[name].default] == list(UNSET)


def test_every_exported_field_is_copied_and_imported(campaign: Campaign) -> None:
    file = json.loads(json.dumps(campaign_export(campaign)))
    before = draft_of(campaign)
    copies = [
        campaign_clone(campaign=campaign),
        campaign_import(project=campaign.project, document=file, dataset=campaign.dataset),
    ]
    for copy in map(draft_of, copies):
        for name, field in CAMPAIGN.items():
            if not field.exported:
                assert getattr(copy, name) == field.default, name
            elif name != "name":
                assert getattr(copy, name) == getattr(before, name), name


def test_exactly_the_frozen_fields_are_in_a_launched_design(campaign: Campaign) -> None:
    launched = campaign_launch(campaign=campaign)
    expected = {name for name in PLAIN if CAMPAIGN[name].frozen}
    assert expected <= set(launched.design)
    assert not (set(PLAIN) - expected) & set(launched.design)


def test_every_field_is_set_in_one_step(campaign: Campaign) -> None:
    settled = [name for form in STEPS.values() for name in form.settles]
    assert sorted(settled) == sorted(CAMPAIGN)
    shown = {name for form in STEPS.values() for name in form(campaign).fields}
    assert set(PLAIN) - shown == {
        "questions",
        "writing",
        "quality",
        "qualification",
    }  # their parts have their own forms


@pytest.mark.parametrize("model", [Campaign, Criterion])
def test_every_field_of_the_table_is_a_column(model: Any) -> None:
    names = {column.name for column in model._meta.get_fields()}
    assert set(CAMPAIGN if model is Campaign else CRITERION) <= names


def without_later_fields(value: Any, before: Any) -> Any:
    """Return a document without the fields that its version 1 does not have."""
    if isinstance(before, dict) and before:
        return {name: without_later_fields(part, before[name]) for name, part in value.items() if name in before}
    if isinstance(before, list) and len(before) == len(value):
        return [without_later_fields(*pair) for pair in zip(value, before, strict=True)]
    return value


def test_files_and_hashes_are_those_of_version_1(project: Project, campaign: Campaign) -> None:
    plain = make_campaign(
        make_dataset(project, name="plain"),
        name="Plain",
        launch=False,
        target="references",
        reference_kinds=["seed", "human"],
    )
    for draft, before in ((campaign, VERSION_1["full"]), (plain, VERSION_1["plain"])):
        exported, frozen = json.loads(before["export"]), before["design"]
        known = without_later_fields(campaign_export(draft), exported)
        assert json.dumps(known, ensure_ascii=False) == before["export"]
        launched = campaign_launch(campaign=draft)
        assert without_later_fields(launched.design, frozen) == frozen
        assert hashlib.sha256(canonical_json(frozen)).hexdigest() == before["design_hash"]
        if launched.design == frozen:
            assert launched.design_hash == before["design_hash"]
