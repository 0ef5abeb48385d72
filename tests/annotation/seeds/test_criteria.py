"""A new criterion for seeds needs only its entry in the registry."""

import pytest
from django.http import QueryDict

from annotation.core.errors import AnnotationError
from annotation.models import SeedSelecting
from annotation.seeds.api.seeds import SelectionRulesSerializer
from annotation.seeds.criteria import CRITERIA, SeedCriterion, criteria_values
from annotation.seeds.forms import SelectForm
from annotation.seeds.services.selecting import seeds_select_create, seeds_select_execute
from annotation.seeds.services.selections import SelectionRules
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate

MAX_RATINGS = SeedCriterion(
    name="max_ratings",
    label="Ratings, at most",
    help_text="",
    lowest=1,
    highest=100,
    default=100,
    is_met=lambda mean, most: mean.n <= most,
    requirement="at most {} ratings",
    failing="with too many ratings",
)


@pytest.fixture
def _max_ratings(monkeypatch):
    monkeypatch.setitem(CRITERIA, MAX_RATINGS.name, MAX_RATINGS)


@pytest.fixture
def campaign(project):
    campaign = make_campaign(make_dataset(project))
    for name, n in (("rated twice", 2), ("rated once", 1)):
        response = make_response(make_item(campaign.dataset, name), f"{name}.", "seed")
        for number in range(n):
            rate(campaign, f"rater {number}", response, 5)
    return campaign


@pytest.mark.usefixtures("_max_ratings")
def test_the_form_and_the_api_offer_each_criterion(campaign):
    form = SelectForm(campaign.dataset, QueryDict())
    assert [field.name for field in form.numbers] == ["threshold", "min_ratings", "max_ratings", "shares", "seed"]
    assert form.is_valid()
    assert form.arguments()["rules"].criteria["max_ratings"] == 100
    assert SelectionRulesSerializer().fields["max_ratings"].default == 100


@pytest.mark.usefixtures("_max_ratings")
def test_a_selection_applies_and_records_each_criterion(campaign):
    settings = {"threshold": 5, "shares": {"dev": 1}, "seed": 1, "max_ratings": 1}
    rules = SelectionRules.of(dataset=campaign.dataset, campaigns=[campaign], **settings)
    job = seeds_select_create(rules=rules)
    seeds_select_execute(selecting_id=job.pk)
    selection = SeedSelecting.objects.get().selection
    assert [member.item.external_id for member in selection.members.all()] == ["rated once"]
    assert (selection.report["max_ratings"], selection.report["min_ratings"]) == (1, 1)
    assert selection.report["too_few"] == 1


@pytest.mark.parametrize("value", [0, 101, True, "3", 2.5])
def test_a_value_out_of_range_is_refused_by_name(value):
    with pytest.raises(AnnotationError) as refused:
        criteria_values({"min_ratings": value})
    assert list(refused.value.fields) == ["min_ratings"]


def test_an_unknown_criterion_raises_a_type_error():
    with pytest.raises(TypeError, match="unknown criteria: ratings"):
        criteria_values({"ratings": 3})
