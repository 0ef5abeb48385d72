"""Selected seeds are rated again, and some fall below the threshold."""

from fractions import Fraction

import pytest

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.lists import campaign_for_list
from annotation.core.errors import AnnotationError
from annotation.datasets.services.lists import response_list_create
from annotation.models import (
    Campaign,
    Dataset,
    JobState,
    Release,
    ReleaseWeight,
    Response,
    User,
)
from annotation.references.releases.selectors.facts import fallen_seeds
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from annotation.seeds.selectors import (
    has_fallen,
    means_now,
    members_page,
    rated_seeds,
    seed_campaigns,
    seeded_datasets,
)
from annotation.seeds.services.rating_again import seeds_rate_again
from annotation.seeds.services.selections import bars
from tests.annotation.seeds.judged import names, select
from tests.annotation.worlds.rated import make_campaign, make_dataset, rate


def test_every_selected_seed_gets_two_more_ratings(campaign: Campaign, manager: User) -> None:
    selection = select(campaign)
    draft = seeds_rate_again(selection=selection, by=manager)
    assert (draft.ratings_per_unit, draft.target, draft.response_list.name) == (2, "listed", "Seeds of Replies")
    assert set(draft.response_list.responses.values_list("pk", flat=True)) == set(
        selection.members.values_list("response_id", flat=True)
    )
    assert [criterion.question for criterion in draft.criteria.all()] == [
        criterion.question for criterion in campaign.criteria.all()
    ]
    second_draft = seeds_rate_again(selection=selection, ratings_per_unit=1, by=manager)
    assert second_draft.response_list == draft.response_list
    assert campaign_launch(campaign=draft).slots.count() == 6


def test_a_list_with_the_origin_of_a_selection_is_not_reused(campaign: Campaign) -> None:
    """The origin of a list is set by its creator, or by a file from another server with other ids."""
    selection = select(campaign)
    one_response = selection.members.order_by("pk").values_list("response_id", flat=True)[:1]
    origin = {"kind": "seeds", "selection": selection.pk, "threshold": 1}
    response_list_create(dataset=selection.dataset, name="Not all", responses=one_response, origin=origin)
    draft = seeds_rate_again(selection=selection)
    assert draft.response_list.responses.count() == selection.members.count() > 1


def test_seeds_rated_in_pairs_need_a_model(campaign: Campaign) -> None:
    selection = select(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(presentation="pair")
    with pytest.raises(AnnotationError, match="were rated in pairs"):
        seeds_rate_again(selection=selection)


def test_a_seed_that_falls_below_the_threshold_is_kept_and_marked(campaign: Campaign) -> None:
    selection = select(campaign)
    more = campaign_launch(campaign=seeds_rate_again(selection=selection))
    b = selection.members.get(item__external_id="b").response
    for rater, value in (("x", 4), ("y", 3)):  # 3, 4, 5, 4, 3: a mean of 3.8
        rate(more, rater, b, value)
    other_campaign = make_campaign(campaign.dataset, name="Fluency", criteria={"fluency": (1, 5)})
    rate(other_campaign, "x", b, 5)  # another question
    now = means_now(selection)
    assert now[b.pk] == (Fraction(19, 5), 5)
    fallen = {pk for pk, mean in now.items() if has_fallen(selection, mean)}
    assert fallen == {b.pk}
    assert names(selection) == ["a", "b", "d"]
    (member,), after = members_page(selection, split="", among=fallen, after=None, size=10)
    assert (member.response, after) == (b, None)


def test_members_are_paged_by_split_in_the_order_of_the_items(campaign: Campaign) -> None:
    selection = select(campaign, shares={"dev": 1})
    item_ids, after = [], None
    for _ in range(3):
        page, after = members_page(selection, split="dev", among=None, after=after, size=1)
        item_ids += [member.item.external_id for member in page]
    assert (item_ids, after) == (["a", "b", "d"], None)
    assert members_page(selection, split="test", among=None, after=None, size=1) == ([], None)


def released(campaign: Campaign, *more: Campaign) -> Release:
    reference_set = reference_set_create(
        dataset=campaign.dataset,
        name=f"Set {Release.objects.count()}",
        campaigns=[campaign, *more],
        source_kinds=["seed"],
    )
    release = release_create(reference_set=reference_set)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert release.state == JobState.DONE, release.error
    return release


def test_a_release_lists_the_seeds_that_fell(campaign: Campaign) -> None:
    assert fallen_seeds(released(campaign)) == set()  # nothing was selected
    selection = select(campaign)
    assert fallen_seeds(released(campaign)) == set()
    more = campaign_launch(campaign=seeds_rate_again(selection=selection))
    b = selection.members.get(item__external_id="b").response
    rate(more, "x", b, 3)
    assert fallen_seeds(released(campaign, more)) == {b.pk}


def test_seeds_cannot_fall_on_another_scale(campaign: Campaign, dataset: Dataset) -> None:
    selection = select(campaign)
    other_campaign = make_campaign(dataset, name="Wide", criteria={"quality": (1, 7)})
    for member in selection.members.all():
        rate(other_campaign, "x", member.response, 2)
    release = released(other_campaign)
    assert ReleaseWeight.objects.filter(release=release, rating_mean__lt=4).count() == 3
    assert fallen_seeds(release) == set()


def test_data_sets_and_campaigns_with_seeds_are_found(campaign: Campaign, dataset: Dataset) -> None:
    make_dataset(dataset.project, "plain")
    make_campaign(dataset, name="Empty")
    assert list(seed_campaigns(dataset)) == [campaign]
    assert list(seeded_datasets(dataset.project)) == [dataset]
    select(campaign)
    assert list(seeded_datasets(dataset.project)) == []


def test_many_different_means_are_binned() -> None:
    distribution = [(Fraction(n, 100), 1) for n in range(101)]
    steps = bars(distribution, 0, 1)
    assert (len(steps), sum(n for *_, n in steps), steps[0][:2], steps[-1][1]) == (30, 101, [0, 1 / 30], 1)


def test_seeds_of_two_campaigns_count_as_rated_less_until_both_are_done(campaign: Campaign, dataset: Dataset) -> None:
    b = Response.objects.get(text="Seed of b.")
    listed = response_list_create(dataset=dataset, name="B", responses=[b.pk], origin={})
    more = campaign_launch(campaign=campaign_for_list(response_list=listed, like=campaign, ratings_per_unit=2))
    rated = rated_seeds(dataset, [campaign, more])
    assert (rated.planned[b.pk], rated.means[b.pk].n) == (5, 3)
    assert rated.rated_less(rated.qualified({})) == 2
