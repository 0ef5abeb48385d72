"""Clones, exports, imports and drafts from templates: they are complete, and what does not fit is named."""

import json
from dataclasses import replace
from typing import Any

import pytest

from annotation.campaigns.design.templates import ALL_TEMPLATES
from annotation.campaigns.services.copies import campaign_clone, campaign_import
from annotation.campaigns.services.documents import campaign_document, campaign_export
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.starting import campaign_start, template_draft
from annotation.campaigns.services.validation import draft_problems
from annotation.campaigns.services.writing import campaign_create
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Project, QualityRules, ResponseSource, User
from annotation.weighting.exclusion.measured import GoldAccuracyBelow
from tests.annotation.campaigns.services.test_drafts import full_draft
from tests.annotation.worlds.campaigns import make_campaign, make_dataset


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return campaign_create(project=project, draft=full_draft(project))


def test_a_clone_differs_only_in_name_and_code(campaign: Campaign, manager: User) -> None:
    clone = campaign_clone(campaign=campaign, by=manager)
    assert campaign_document(clone) == campaign_document(campaign)
    assert (clone.name, clone.completion_code, clone.link_token == campaign.link_token) == ("Everything (2)", "", False)
    assert campaign_clone(campaign=campaign).name == "Everything (3)"
    assert clone.audit_entries.first().verb == "campaign.clone"


def test_a_clone_of_a_launched_campaign_can_be_launched(campaign: Campaign) -> None:
    launched = campaign_launch(campaign=campaign)
    relaunched = campaign_launch(campaign=campaign_clone(campaign=launched))
    assert relaunched.design_hash == launched.design_hash


def test_a_file_makes_the_same_campaign_in_another_project(campaign: Campaign, manager: User) -> None:
    other_project = Project.objects.create(name="Elsewhere", slug="elsewhere")
    dataset = make_dataset(other_project)
    dataset.items.filter(position__lt=2).update(split="test")
    file = json.loads(json.dumps(campaign_export(campaign)))
    imported = campaign_import(project=other_project, document=file, dataset=dataset, by=manager)
    assert imported.name == "Everything"
    assert campaign_document(imported) == campaign_document(campaign)
    assert json.dumps(file).find(campaign.completion_code) == -1


def test_registered_rules_are_cloned_and_imported(campaign: Campaign) -> None:
    rule = GoldAccuracyBelow(action="exclude", accuracy=0.6, after=5).to_dict()
    rule_about_raters = {"rule": "exclude_raters", "version": 1, "raters": [1]}
    for version, rules in ((1, []), (2, [rule_about_raters, rule])):
        QualityRules.objects.create(campaign=campaign, version=version, rules=rules, before_launch=True)
    clone = campaign_clone(campaign=campaign)
    (registered,) = clone.rule_versions.all()
    assert (registered.version, registered.rules, registered.before_launch) == (1, [rule], True)
    file = campaign_export(campaign)
    file["rules"] = [{"rule": "no such rule"}]
    with pytest.raises(AnnotationError) as refused:
        campaign_import(project=campaign.project, document=file, dataset=campaign.dataset)
    assert list(refused.value.fields) == ["rules"]


def test_everything_that_does_not_fit_the_other_data_set_is_named_at_once(campaign: Campaign) -> None:
    other_dataset = make_dataset(campaign.project, items=1, systems=["Ada"], name="other")
    with pytest.raises(AnnotationError) as refused:
        campaign_clone(campaign=campaign, dataset=other_dataset)
    assert set(refused.value.fields) == {
        "systems",
        "pairs",
        "split",
        "quality.gold.1.item",
        "qualification.test.1.item",
    }
    assert "no system named 'Bo'; it has: Ada" in refused.value.fields["systems"][0]
    assert Campaign.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"payment": {"per_unit": "much"}}, "payment_per_unit"),
        ({"ratings_per_unit": 0}, "ratings_per_unit"),
        ({"target": 5}, "target"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_wrong_value_in_a_file_is_named(campaign: Campaign, change: dict[str, Any], field: str) -> None:
    file = {**campaign_export(campaign), **change}
    with pytest.raises(AnnotationError) as refused:
        campaign_import(project=campaign.project, document=file, dataset=campaign.dataset)
    assert list(refused.value.fields) == [field]


@pytest.mark.parametrize("template", ALL_TEMPLATES, ids=lambda template: template.slug)
def test_a_template_makes_a_draft_that_can_be_launched(project: Project, manager: User, template: Any) -> None:
    dataset = make_dataset(project)
    ResponseSource.objects.filter(kind="human").update(kind="seed")
    draft = template_draft(template, dataset, name="Mine")
    assert draft_problems(project, draft) == {}
    asked = campaign_start(project=project, dataset=dataset, template=template.slug, consent="Agreed?", by=manager)
    assert asked.name == template.name
    assert campaign_launch(campaign=asked, by=manager).units.exists()
    if "consent" in template.design:
        as_it_is = campaign_start(project=project, dataset=dataset, template=template.slug, by=manager)
        with pytest.raises(AnnotationError, match=r"square brackets to fill in: \[your institution\]"):
            campaign_launch(campaign=as_it_is, by=manager)


@pytest.mark.parametrize(
    ("slug", "k", "presentation", "points"),
    [  # Galley et al. (2015), section 4; Hori and Hori (2017); Novikova et al. (2018)
        ("delta-bleu-seeds", 3, "single", 5),
        ("delta-bleu-references", 5, "single", 5),
        ("delta-bleu-systems", 5, "pair", 5),
        ("dstc6-lists", 10, "list", 5),
        ("rankme-pairs", 3, "pair", 6),
    ],
)
def test_a_template_has_the_design_of_its_paper(
    project: Project, slug: str, k: int, presentation: str, points: int
) -> None:
    campaign = campaign_start(project=project, dataset=make_dataset(project), template=slug)
    assert (campaign.ratings_per_unit, campaign.presentation) == (k, presentation)
    assert {criterion.scale_max - criterion.scale_min + 1 for criterion in campaign.criteria.all()} == {points}


@pytest.mark.parametrize(
    ("slug", "items", "least"),
    [("blank", 30, 10), ("blank", 4, 4), ("dstc6-lists", 30, 5), ("direct-assessment", 4, 30)],
)
def test_a_new_campaign_asks_for_some_items_before_the_completion_code(
    project: Project, slug: str, items: int, least: int
) -> None:
    campaign = campaign_start(project=project, dataset=make_dataset(project, items=items), template=slug)
    assert campaign.min_units_per_rater == least


def test_equal_designs_under_different_names_have_the_same_document(project: Project) -> None:
    dataset = make_dataset(project)
    first, second = make_campaign(dataset, name="one", launch=False), make_campaign(dataset, name="two", launch=False)
    assert campaign_document(first) == campaign_document(second)


def test_a_draft_cannot_use_another_projects_data_set(project: Project) -> None:
    draft = full_draft(project)
    foreign = make_dataset(Project.objects.create(name="E", slug="e"))
    assert set(draft_problems(project, replace(draft, dataset=foreign))) == {"dataset", "systems", "split"}
