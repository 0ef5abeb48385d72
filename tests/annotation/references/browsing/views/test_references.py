"""The browser of a release: pages, filters, search, distributions, links, and the table for print."""

import re
from itertools import chain

import numpy as np
import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.core.searching import _has_word
from annotation.models import ReleaseWeight, ResponseSource, SeedMember, SeedSelection
from annotation.references.browsing.selectors.references import (
    EVERYTHING,
    PAGE,
    WEIGHTS,
    WeightFilter,
    _spread_panel,
    panel_counts,
    panels,
    references_by_item,
)
from annotation.references.releases.services.imports import ImportOptions, release_import
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from benchmarks.references import made_release
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.snapshots import recalled


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()


def _dataset(project):
    """i0 .. i11 in two splits; each has a seed (mean 4.5, the last one 2) and a mined answer (mean 1.5)."""
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    for number in range(12):
        item = make_item(dataset, f"i{number}", context=["Hello."], split="dev" if number % 2 else "test")
        seed = make_response(item, f"Fine answer {number}", "seed")
        mined = make_response(item, f"Bad <b>reply</b> {number}", "mined")
        ResponseSource.objects.filter(response=mined).update(
            rank=1, score=7.5, source_context=["Elsewhere."], source_message=f"Another message {number}?"
        )
        for rater, seed_rating, mined_rating in (("ann", 4, 1), ("bob", 5, 2)):
            rate(campaign, rater, seed, seed_rating if number < 11 else 2)
            rate(campaign, rater, mined, mined_rating)
    return dataset


def _release(project):
    dataset = _dataset(project)
    reference_set = reference_set_create(
        dataset=dataset,
        name="Both",
        campaigns=list(dataset.campaigns.all()),
        source_kinds=["seed", "mined"],
        original_kinds=["seed"],
    )
    release = release_create(reference_set=reference_set)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    return release


@pytest.fixture
def release(project):
    return recalled("browsed", project, lambda: _release(project))


@pytest.fixture
def dataset(request, project):
    """The data set of the release, in a test that has one."""
    if "release" in request.fixturenames:
        return request.getfixturevalue("release").reference_set.dataset
    return recalled("to be browsed", project, lambda: _dataset(project))


@pytest.fixture
def many_references(project):
    return recalled("200 references", project, lambda: made_release(project, 20, 10))


@pytest.fixture
def four_pages(project):
    return recalled("80 references", project, lambda: made_release(project, 8, 10))


def page(name="release-browse", slug="both", *args):
    return reverse(f"annotation:{name}", args=["chit-chat", slug, 1, *args])


def shown_ids(answer):
    """Return the ids of the responses on a page, in order."""
    return [int(pk) for pk in re.findall(r'id="reference-(\d+)"', answer.content.decode())]


def joined(pages):
    return list(chain.from_iterable(pages))


def walk(client, address, forwards=True):
    """Return all pages from an address on, following the plain links; after the first, without filters and charts."""
    pages, headers = [], {}
    while address:
        answer = client.get(address, headers=headers)
        assert answer.status_code == 200
        pages.append(shown_ids(answer))
        address = answer.context["next_url" if forwards else "previous_url"]
        headers = {"HX-Request": "true", "HX-Target": "more"}
    return pages


# --- Access ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [("release-browse", "both"), ("release-browse-table", "both", "tex")])
def test_an_outsider_gets_404_and_a_viewer_reads(release, outsider, viewer, as_user, client, args):
    assert client.get(page(*args)).url.startswith("/accounts/login/")
    assert as_user(outsider).get(page(*args)).status_code == 404
    assert as_user(viewer).get(page(*args)).status_code == 200
    assert as_user(viewer).post(page(*args)).status_code == 405


def test_a_release_that_is_being_built_has_no_references_yet(project, dataset, viewer, as_user):
    reference_set = reference_set_create(
        dataset=dataset, name="Both", campaigns=list(dataset.campaigns.all()), source_kinds=["seed"]
    )
    release_create(reference_set=reference_set)
    assert as_user(viewer).get(page()).url == page("release-detail")
    assert as_user(viewer).get(page("release-browse-table", "both", "tex")).status_code == 404


# --- Pages -----------------------------------------------------------------------------------------------------------


def test_items_are_in_order_each_with_its_references_by_weight(release, viewer, as_user):
    groups = as_user(viewer).get(page()).context["groups"]
    assert [group.item.external_id for group in groups] == [f"i{n}" for n in range(12)]
    assert [weight.response.text for weight in groups[0].references] == ["Fine answer 0", "Bad <b>reply</b> 0"]
    assert [bar.count for bar in groups[0].references[0].bars] == [0, 0, 0, 1, 1]


def test_pages_by_item_hold_every_reference_once_and_split_no_item(many_references, viewer, as_user):
    client = as_user(viewer)
    expected = list(
        many_references.weights.order_by("item_position", "-weight", "id").values_list("response_id", flat=True)
    )
    pages = walk(client, page(slug="references-200"))
    assert joined(pages) == expected
    assert [len(ids) for ids in pages] == [20] * 10  # two items of ten: three do not fit
    last = client.get(page(slug="references-200") + f"?at={pages[-1][0]}")
    assert shown_ids(last) == pages[-1]
    earlier_pages = walk(client, last.context["previous_url"], forwards=False)
    assert joined(earlier_pages[::-1]) == expected[:180]


def test_an_item_with_more_references_than_a_page_is_continued_on_the_next(project, viewer, as_user):
    release = made_release(project, 2, 60)
    expected = list(release.weights.order_by("item_position", "-weight", "id").values_list("response_id", flat=True))
    client = as_user(viewer)
    pages = walk(client, page(slug="references-120"))
    assert joined(pages) == expected
    assert len(pages[0]) == PAGE
    assert (
        "continued" in client.get(page(slug="references-120") + f"?after={_pk(release, pages[0][-1])}").content.decode()
    )


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("-weight", lambda weight: -weight.weight),
        ("weight", lambda weight: weight.weight),
        ("-width", lambda weight: weight.low - weight.high),
        ("width", lambda weight: weight.high - weight.low),
        ("-spread", lambda weight: -weight.rating_spread),
        ("spread", lambda weight: weight.rating_spread),
        ("-n", lambda weight: -weight.n_ratings),
        ("n", lambda weight: weight.n_ratings),
    ],
)
def test_pages_by_reference_hold_every_reference_once_in_the_requested_order(four_pages, viewer, as_user, sort, key):
    client = as_user(viewer)
    address = f"{page(slug='references-80')}?view=references&sort={sort}"
    pages = walk(client, address)
    weights = {weight.response_id: weight for weight in four_pages.weights.all()}
    keys = [key(weights[pk]) for pk in joined(pages)]
    assert len(set(joined(pages))) == 80
    assert keys == sorted(keys)
    assert [len(ids) for ids in pages] == [PAGE] * (80 // PAGE) + [80 % PAGE]
    earlier_pages = walk(client, f"{address}&before={_pk(four_pages, pages[-1][0])}", forwards=False)
    assert joined(earlier_pages[::-1]) == joined(pages[:-1])


def test_weights_without_interval_or_spread_come_last_in_descending_order(project, dataset, viewer, as_user):
    """A response judged by one rater has neither."""
    lone = make_response(make_item(dataset, "lone"), "Once.", "seed")
    rate(dataset.campaigns.get(), "ann", lone, 5)
    reference_set = reference_set_create(
        dataset=dataset,
        name="Both",
        campaigns=list(dataset.campaigns.all()),
        source_kinds=["seed", "mined"],
    )
    release_build(release_id=release_create(reference_set=reference_set).pk)
    client = as_user(viewer)
    for name in ("width", "spread"):
        assert joined(walk(client, f"{page()}?view=references&sort=-{name}"))[-1] == lone.pk
        assert joined(walk(client, f"{page()}?view=references&sort={name}"))[0] == lone.pk


def _pk(release, response_id):
    return release.weights.get(response_id=response_id).pk


def test_a_link_to_a_reference_opens_the_page_at_its_item_and_leads_back(many_references, viewer, as_user):
    client = as_user(viewer)
    middle = list(many_references.weights.filter(item_position=11).order_by("-weight", "id"))[4]
    answer = client.get(f"{page(slug='references-200')}?at={middle.response_id}")
    assert answer.context["groups"][0].item.position == 11
    assert middle.response_id in shown_ids(answer)
    before = client.get(answer.context["previous_url"])
    assert before.context["groups"][-1].item.position == 10
    flat = client.get(f"{page(slug='references-200')}?view=references&sort=-spread&at={middle.response_id}")
    assert shown_ids(flat)[0] == middle.response_id
    link = f"{page(slug='references-200')}?at={middle.response_id}#reference-{middle.response_id}"
    assert f'data-copy="http://testserver{link}"' in answer.content.decode()


@pytest.mark.parametrize(
    "start", ["after=999999999", "before=999999999", "before=0", "at=999999999", "before=x", "at=-3"]
)
def test_an_invalid_start_shows_the_first_page(release, viewer, as_user, start):
    answer = as_user(viewer).get(f"{page()}?{start}")
    assert answer.context["groups"][0].item.external_id == "i0"


def test_scrolling_loads_only_the_next_page(many_references, viewer, as_user):
    client = as_user(viewer)
    first = client.get(page(slug="references-200"))
    following = first.context["next_url"]
    part = client.get(following, headers={"HX-Request": "true", "HX-Target": "more"})
    assert shown_ids(part) == shown_ids(client.get(following))
    assert b"<html" not in part.content
    assert b'id="more"' in part.content
    next_part = client.get(following, headers={"HX-Request": "true", "HX-Target": "page-after-7"})
    assert shown_ids(next_part) == shown_ids(part)
    assert b'id="more"' not in next_part.content
    assert "HX-Target" in next_part["Vary"]
    history_headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert b"<html" in client.get(following, headers=history_headers).content


def test_the_number_of_queries_does_not_grow_with_the_references(project, viewer, as_user):
    client = as_user(viewer)
    small, large = made_release(project, 10, 6), made_release(project, 40, 20)
    counted = []
    for release in (small, large):
        for query in ("", "?view=references&sort=-n&text=rain&sign=positive", "?view=table"):
            cache.clear()
            _has_word.cache_clear()
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert client.get(page(slug=release.reference_set.slug) + query).status_code == 200
            counted.append(len(queries))
    assert counted[:3] == counted[3:]
    assert max(counted) <= 19


# --- Filters and search ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "items", "references"),
    [
        ("low=0", 11, 11),
        ("high=-0.6", 12, 12),
        ("low=-0.6&high=0.5", 1, 1),
        ("source=mined&low=-1", 12, 12),
        ("no_positive=on", 1, 2),
        ("text=answer+7", 1, 1),
        ("min_ratings=3", 0, 0),
        ("max_ratings=2", 12, 24),
        ("split=dev", 6, 12),
        ("sign=negative", 12, 13),
        ("sign=positive", 11, 11),
        ("sign=zero", 0, 0),
        ("original=yes", 12, 12),
        ("original=no&split=test", 6, 6),
        ("min_spread=0.5", 12, 23),  # 4 and 5, 1 and 2: 0.71; the last seed got 2 twice
        ("max_spread=0.1", 1, 1),
        # s = sqrt(23/24 x 0.5), so half a width is t(24) s / sqrt(2) / 2 = 0.505, cut at the ends of the scale.
        ("min_width=0.8", 1, 1),
        ("spans_zero=on", 1, 1),
        ("low=lots", 12, 24),
    ],
)
def test_filters_narrow_the_list(release, viewer, as_user, query, items, references):
    client = as_user(viewer)
    answer = client.get(f"{page()}?{query}")
    assert answer.context["total"] == (references, items, False)
    assert len(shown_ids(answer)) == references
    flat = client.get(f"{page()}?{query}&view=references")
    assert sorted(shown_ids(flat)) == sorted(shown_ids(answer))


def test_seeds_below_their_selection_threshold_are_marked_and_can_be_filtered(release, viewer, as_user):
    client = as_user(viewer)
    assert "fallen" not in client.get(page()).content.decode()
    cache.clear()
    dataset = release.reference_set.dataset
    selection = SeedSelection.objects.create(
        project=dataset.project, dataset=dataset, threshold=4, shares={"dev": 1}, seed=1
    )
    selection.campaigns.set(dataset.campaigns.all())
    for weight in release.weights.filter(is_original=True):
        SeedMember.objects.create(
            selection=selection, item=weight.item, response=weight.response, split="dev", rating_mean=4, n_ratings=2
        )
    fallen = release.weights.get(is_original=True, rating_mean=2)
    answer = client.get(page() + "?fallen=on")
    assert shown_ids(answer) == [fallen.response_id]
    assert "fallen seed" in answer.content.decode()
    assert dict(answer.context["chips"]) == {"Only seeds that fell below their threshold": "?"}


def test_an_invalid_filter_is_reported_and_everything_is_shown(release, viewer, as_user):
    answer = as_user(viewer).get(page() + "?low=2&source=Nobody")
    assert answer.status_code == 400
    assert "Ensure this value is less than or equal to 1" in answer.content.decode()
    assert "Nobody is not one of the available choices" in answer.content.decode()
    assert len(shown_ids(answer)) == 24
    part = as_user(viewer).get(page() + "?low=2", headers={"HX-Request": "true", "HX-Target": "browse"})
    assert part.status_code == 200  # htmx would show nothing else
    assert "Ensure this value is less than or equal to 1" in part.content.decode()


def test_counting_stops_at_a_limit(project, viewer, as_user, monkeypatch):
    monkeypatch.setattr("annotation.references.browsing.selectors.references.COUNTED", 100)
    made_release(project, 20, 10)
    client = as_user(viewer)
    answer = client.get(page(slug="references-200") + "?max_ratings=6").content.decode()
    assert "More than 100 references" in answer
    assert "200 references of 20 items" in client.get(page(slug="references-200")).content.decode()


def test_every_filter_is_a_chip_that_links_to_the_page_without_it(release, viewer, as_user):
    client = as_user(viewer)
    answer = client.get(page() + "?low=-1&high=0.5&sign=negative&source=mined&view=references&spans_zero=&after=3")
    chips = dict(answer.context["chips"])
    assert list(chips) == ["Weight −1 to 0.5", "Negative", "Source: Mined"]
    assert chips["Negative"] == "?low=-1&high=0.5&source=mined&view=references"
    assert answer.context["clear_url"] == "?view=references"
    part = client.get(page() + "?text=&low=0.5&sign=", headers={"HX-Request": "true", "HX-Target": "browse"})
    assert part["HX-Push-Url"] == page() + "?low=0.5"


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("snow beautiful", {1, 2}),
        ('"beautiful snow"', {2}),
        ("snow -beautiful", {3}),
        ("thunder or cats", {4, 5}),
        ("SNOW", {1, 2, 3}),
        ("question", {1, 2, 3, 4, 5, 6, 7}),  # of the item's message
        ("sno", set()),
        ("日本", {6}),
        ("?!", {5}),
        ("'); --", set()),
        ("²", {7}),  # a letter to Python, and no word to the database
        ("-²", set()),
        ("m²", {7}),
    ],
)
def test_search_understands_words_phrases_or_and_minus(project, viewer, as_user, text, matches):
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    item = make_item(dataset, "i1")
    item.message = "A question"
    item.save()
    texts = [
        "the snow is beautiful",
        "beautiful snow",
        "Snow!",
        "thunder",
        "cats ?!",
        "私は日本が好き",
        "Fifty m² of it",
    ]
    numbers = {}
    for number, response_text in enumerate(texts, start=1):
        response = make_response(item, response_text, "seed")
        numbers[response.pk] = number
        rate(campaign, "ann", response, 4)
    reference_set = reference_set_create(dataset=dataset, name="Both", campaigns=[campaign], source_kinds=["seed"])
    release_build(release_id=release_create(reference_set=reference_set).pk)
    answer = as_user(viewer).get(page(), {"text": text})
    assert {numbers[pk] for pk in shown_ids(answer)} == matches
    by_characters = "Searched for exactly these characters" in answer.content.decode()
    assert by_characters == (text in {"日本", "?!", "'); --", "²", "-²"})


def test_matches_are_marked_and_texts_are_escaped(release, viewer, as_user):
    text = as_user(viewer).get(page() + "?text=reply+3").content.decode()
    assert "Bad &lt;b&gt;<mark>reply</mark>&lt;/b&gt; <mark>3</mark>" in text
    assert "<b>reply" not in text
    signs = as_user(viewer).get(page(), {"text": "</"}).content.decode()
    assert "Bad &lt;b&gt;reply<mark>&lt;/</mark>b&gt; 3" in signs


def test_search_uses_the_index_over_words(project):
    release = made_release(project, 200, 10)
    with CaptureQueriesContext(connection) as queries:
        references_by_item(release, WeightFilter(text="zephyr"))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN " + next(query["sql"] for query in queries if "releaseweight" in query["sql"]))
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "response_search" in plan
    assert "item_search" in plan


# --- Distributions ---------------------------------------------------------------------------------------------------


def test_a_panel_counts_the_references_that_match_the_other_filters(release, viewer, as_user):
    """11 weights of 0.75, one of -0.5 and 12 of -0.75."""
    answer = as_user(viewer).get(page() + "?low=0.5")
    weight, width, spread = answer.context["brushes"]
    assert weight.summary == "24 references: 13 negative, 0 at zero, 11 positive"
    assert [bar["chosen"] for bar in weight.bars] == [False, False, True]
    assert width.summary.startswith("11 references")
    assert spread.summary == "11 references: half of them up to 0.7"  # of 4 and 5: 0.707
    split = as_user(viewer).get(page() + "?split=dev").context["brushes"][0]
    assert split.summary == "12 references: 7 negative, 0 at zero, 5 positive"


@pytest.mark.parametrize(
    ("most", "step", "high"),
    [
        (2.83, 0.1, 2.9),
        (4.0, 0.1, 4.0),
        (0.7071, 0.02, 0.72),
        (57.7, 2.0, 58.0),
        (0.0004, 1e-5, 0.0004),
        (4.1, 0.2, 4.2),
    ],
)
def test_the_axis_of_disagreement_is_as_long_as_the_scale_needs(most, step, high):
    panel = _spread_panel(most)
    assert (panel.step, panel.high) == (pytest.approx(step), pytest.approx(high))
    assert len(panel.bins) <= 41
    assert panel.bins[-1] * panel.step >= most - panel.step / 2


def test_disagreement_is_brushed_like_weights(many_references, viewer, as_user):
    """The bins are those of numpy's rounding; a range in the address is drawn; the ends of the axis are no limits."""
    panel = panels(many_references)[-1]
    bin_counts = {value: count for value, count in panel_counts(many_references, EVERYTHING, panel) if count}
    spreads = np.array(many_references.weights.exclude(rating_spread=None).values_list("rating_spread", flat=True))
    nearest = np.floor(spreads / panel.step + 0.5 + 1e-9) * panel.step
    values, counts = np.unique(nearest.round(10), return_counts=True)
    assert bin_counts == dict(zip(values.tolist(), counts.tolist(), strict=True))
    address = reverse(
        "annotation:release-browse",
        args=[many_references.reference_set.project.slug, many_references.reference_set.slug, 1],
    )
    answer = as_user(viewer).get(f"{address}?min_spread=0.5")
    brush = answer.context["brushes"][-1]
    assert {bar["chosen"] for bar in brush.bars} == {True, False}
    fieldset = answer.content.decode().split("Disagreement</legend>")[1].split("</fieldset>")[0]
    (high,) = re.findall(r'<input class="form-control[^>]*name="max_spread"[^>]*>', fieldset)
    assert " max=" not in high


def test_without_judgements_disagreement_is_only_a_range(release, viewer, as_user):
    content = b"item,text,weight\ni0,Fine answer 0,0.5\n"
    release_import(
        dataset=release.reference_set.dataset,
        filename="w.csv",
        content=content,
        options=ImportOptions(name="Theirs"),
        by=None,
    )
    answer = as_user(viewer).get(page("release-browse", "theirs"))
    assert [brush.panel.name for brush in answer.context["brushes"]] == ["weight", "width"]
    assert 'name="min_spread"' in answer.content.decode()


def test_the_bins_of_a_distribution_are_those_numpy_rounds_to(many_references):
    bin_counts = {value: count for value, count in panel_counts(many_references, EVERYTHING, WEIGHTS) if count}
    weights = np.array(many_references.weights.values_list("weight", flat=True))
    nearest = np.sign(weights) * np.floor(np.abs(weights) / 0.05 + 0.5 + 1e-9) * 0.05
    values, counts = np.unique(nearest.round(10), return_counts=True)
    assert bin_counts == dict(zip(values.tolist(), counts.tolist(), strict=True))


# --- Old addresses and print -----------------------------------------------------------------------------------------


def test_the_table_shows_the_original_first_and_what_the_others_were_mined_from(release, viewer, as_user):
    shown = as_user(viewer).get(page() + "?view=table&sign=negative")
    assert "In a frame: the original response, and what it answers." in shown.content.decode()
    table = shown.context["table"]
    first, second = table[0].rows
    assert (first.context, first.message, first.response, first.written) == (
        "Hello.",
        "Message of i0?",
        "Fine answer 0",
        "+0.75",
    )
    assert first.is_seed
    assert (second.context, second.message, second.written) == ("Elsewhere.", "Another message 0?", "−0.75")
    assert second.is_mined
    halves = [second._replace(weight=weight).written for weight in (0.125, -0.125, 0.25, -0.75, -0.001)]
    assert halves == ["+0.13", "−0.13", "+0.25", "−0.75", "0.00"]


def test_the_table_can_be_downloaded_as_latex_and_as_markdown(release, viewer, as_user):
    def download(kind):
        answer = as_user(viewer).get(page("release-browse-table", "both", kind) + "?text=reply+3")
        assert f"chit-chat-both-v1-table.{kind}" in answer["Content-Disposition"]
        return b"".join(answer.streaming_content).decode()

    latex, markdown = download("tex"), download("md")
    n = release.weights.get(response__text="Fine answer 3").n_ratings
    assert rf"Fine answer 3}}}} & $+0.75$ & {n} \\" in latex
    assert r"\textit{Elsewhere.} & \textit{Another message 3?} & Bad \textless{}b\textgreater{}reply" in latex
    assert latex.count(r"\midrule") == 1
    assert f"| **Hello\\.** | **Message of i3?** | **Fine answer 3** | +0.75 | {n} |".replace("\\.", ".") in markdown
    assert "| *Elsewhere.* | *Another message 3?* | Bad \\<b\\>reply\\</b\\> 3 | −0.75 | " in markdown
    assert as_user(viewer).get(page("release-browse-table", "both", "exe")).status_code == 404


def test_a_weight_without_evidence_is_shown_without_histogram_and_spread(release, viewer, as_user):
    """Imported weights have none."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('assay.purge', 'on', true)")
    ReleaseWeight.objects.filter(release=release).update(rating_spread=None, histogram=None, rating_mean=None)
    text = as_user(viewer).get(page()).content.decode()
    assert "mini-hist" not in text
    assert "s.d." not in text
    assert "+0.75" in text


def test_a_range_that_ends_before_it_begins_is_refused(release, viewer, as_user):
    answer = as_user(viewer).get(f"{page()}?low=0.9&high=0.7")
    assert answer.status_code == 400
    assert "Weight from 0.9 to 0.7: the first value must not be above the second." in answer.content.decode()


@pytest.mark.parametrize("at", ["0", "999999999", "elsewhere"])
def test_a_link_to_a_missing_reference_shows_a_note(release, viewer, as_user, at):
    page_text = as_user(viewer).get(page() + f"?at={at}").content.decode()
    assert f"This release has no reference {at}:" in page_text
    known = release.weights.earliest("pk").response_id
    assert "This release has no reference" not in as_user(viewer).get(page() + f"?at={known}").content.decode()
