"""The demo's second project, compared with the published file and with the printed counts of its paper."""

import pytest

from annotation.demo import restaurants
from annotation.models import Campaign, Dataset, Item, Rating, ResponseSource, User

pytestmark = pytest.mark.django_db


def test_it_holds_the_published_outputs_with_their_ratings_and_is_made_once() -> None:
    by = User.objects.create_user("demo-importer")

    counts = restaurants.restaurants_import(by=by)

    # Dušek, Novikova and Rieser 2017, Table 1: ratings from each data set and system.
    printed = {
        ("BAGEL", "LOLS"): 202,
        ("BAGEL", "TGen"): 202,
        ("SFRES", "LOLS"): 581,
        ("SFRES", "RNNLG"): 600,
        ("SFHOT", "LOLS"): 398,
        ("SFHOT", "RNNLG"): 477,
    }
    outputs = ResponseSource.objects.values_list("item__split", "system__name")
    assert {key: list(outputs).count(key) for key in set(outputs)} == printed
    # 1,180 meaning representations, 100 of them with a second output of a system; counted with sort and uniq.
    assert (counts["items"], counts["outputs"], counts["judgements"]) == (1280, 2460, 2460)
    assert Item.objects.values("split", "meaning_representation").distinct().count() == 1180
    # The first line of the file.
    first = Item.objects.get(external_id="bagel-1")
    assert first.meaning_representation == "inform(name=none,area=citycentre,near='X')"
    rated = Rating.objects.filter(response__item=first, rated_as__name="TGen").order_by("criterion__position")
    assert [rating.value for rating in rated] == [6, 4, 5]
    assert restaurants.restaurants_import(by=by) == {}
    assert (Dataset.objects.count(), Campaign.objects.count()) == (1, 1)
