"""The metric explained: pages of an item and of a reference, what they show and who may read them."""

import csv
import io
import json

import pytest
from django.test import RequestFactory
from django.urls import resolve, reverse
from django.utils import timezone
from django.utils.html import strip_tags

from metrics.scoring.delta_bleu import sentence_delta_bleu
from metrics.scoring.explain.ngrams import exact_sum
from metrics.selectors.explanations import Reading, default_tokenizer, explain_item
from metrics.selectors.matches import response_matches
from metrics.selectors.scripts import proposed_tokenizer
from metrics.subsets import Subset
from metrics.views.explanations import release_item
from tests.metrics.conversations import (
    ARABIC,
    CHINESE,
    DISLIKED,
    ENGLISH,
    Conversations,
    make_conversations,
    make_release,
)
from tests.metrics.world import WORDS

pytestmark = pytest.mark.django_db

# The example of two semantics, as worked by hand: max(.9 x 1, .5 x 2) = 1.0, and .9 x 2 = 1.8.
TWO_WAYS = {
    "context": [],
    "message": "again ?",
    "references": [(0.9, "a", "seed"), (0.5, "a a", "mined")],
    "outputs": {"Echo": "a a"},
}


@pytest.fixture
def talk(project) -> Conversations:
    return make_conversations(project)


def item_url(conversations: Conversations, item: int = 0, query: str = "") -> str:
    args = [
        conversations.project.slug,
        conversations.reference_set.slug,
        conversations.release.number,
        conversations.items[item].pk,
    ]
    return reverse("metrics:release-item", args=args) + query


def matches_url(conversations: Conversations, text: str, query: str = "") -> str:
    return (
        reverse("metrics:response-matches", args=[conversations.project.slug, conversations.reference(0, text).pk])
        + query
    )


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_an_outsider_gets_404_a_stranger_signs_in_and_nothing_can_be_posted(talk, outsider, viewer, as_user, client):
    for url in (item_url(talk), matches_url(talk, "i like cats")):
        assert as_user(outsider).get(url).status_code == 404
        assert as_user(outsider).get(f"{url}?format=csv").status_code == 404
        assert "/accounts/login/" in client.get(url).url
        assert as_user(viewer).post(url).status_code == 405


def test_an_item_of_another_data_set_or_of_an_unfinished_release_is_404(talk, viewer, as_user):
    other_talk = make_conversations(talk.project, DISLIKED, slug="other")
    args = [talk.project.slug, talk.reference_set.slug, 1, other_talk.items[0].pk]
    assert as_user(viewer).get(reverse("metrics:release-item", args=args)).status_code == 404
    args = [talk.project.slug, talk.reference_set.slug, 2, talk.items[0].pk]
    assert as_user(viewer).get(reverse("metrics:release-item", args=args)).status_code == 404


def test_references_come_by_weight_and_outputs_that_are_references_last(talk, viewer, as_user):
    explanation = as_user(viewer).get(item_url(talk)).context["explanation"]
    assert [reference.weight for reference in explanation.references] == [0.8, 0.6, 0.3, 0.0, -0.4, -0.7, -1.0]
    assert [hypothesis.names for hypothesis in explanation.hypotheses] == [
        ["Bore"],
        ["Echo", "Twin"],
        ["Quill"],
        ["Silent"],
        ["Parrot"],
    ]
    assert explanation.hypotheses[-1].reference.number == 6


@pytest.mark.parametrize("semantics", ["galley2015", "sacrebleu2018"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_hypothesis_has_the_score_of_the_array_code(talk, viewer, as_user, semantics, order):
    url = item_url(talk, query=f"?order={order}&semantics={semantics}")
    texts = [text for _, text, _ in ENGLISH["references"]]
    weights = [weight for weight, _, _ in ENGLISH["references"]]
    for hypothesis in as_user(viewer).get(url).context["explanation"].hypotheses:
        expected = sentence_delta_bleu(
            hypothesis.response.text, texts, weights, max_order=order, semantics=semantics, tokenize="whitespace"
        )
        assert hypothesis.score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("semantics", "line", "winner"),
    [("galley2015", "2 × 0.5 = <strong>1.0</strong>", 2), ("sacrebleu2018", "2 × 0.9 = <strong>1.8</strong>", 1)],
)
def test_the_arithmetic_of_both_semantics_is_written_out(project, viewer, as_user, semantics, line, winner):
    conversations = make_conversations(project, TWO_WAYS)
    answer = as_user(viewer).get(item_url(conversations, query=f"?order=1&semantics={semantics}"))
    assert line in answer.content.decode()
    (ngram,) = answer.context["explanation"].hypotheses[0].ngrams
    assert ngram.reference.number == winner
    in_all = {1: "1.8", 2: "1.0"}[winner]  # two times .9, two times .5
    page = " ".join(strip_tags(answer.content.decode()).split())
    assert f"won 1 n-gram (2 with repeats), +{in_all} in all" in page
    assert (ngram.counted_by is None) == (semantics == "galley2015")


def test_each_match_names_its_winner_and_what_the_others_would_have_given(talk, viewer, as_user):
    """In Parrot's "i", reference 1 (.8) beats those of .6, 0 and its own twin of -.7, which hold it, too."""
    explanation = as_user(viewer).get(item_url(talk)).context["explanation"]
    (match,) = [ngram for ngram in explanation.hypotheses[-1].ngrams if ngram.text == "i"]
    assert (match.reference.number, match.written_product, match.written_amount) == (1, "1 × 0.8", "+0.8")
    assert [(holder.reference.number, holder.written) for holder in match.others] == [
        (2, "+0.6"),
        (4, "0.0"),
        (6, "−0.7"),
    ]


def test_brackets_of_one_lane_never_overlap_and_copies_that_do_not_count_are_thin(talk, viewer, as_user):
    explanation = as_user(viewer).get(item_url(talk, query="?order=4")).context["explanation"]
    for hypothesis in explanation.hypotheses:
        for token in hypothesis.tokens:
            lanes = [bar.lane for bar in token.bars]
            assert len(lanes) == len(set(lanes))
            assert all(lane < hypothesis.lanes for lane in lanes)
    quill = next(hypothesis for hypothesis in explanation.hypotheses if hypothesis.names == ["Quill"])
    assert [token.counted for token in quill.tokens if token.text == "you"] == [True, False]


def test_a_subset_leaves_references_out_and_is_named_on_the_page(talk, viewer, as_user):
    page = as_user(viewer).get(item_url(talk, query="?refs=w%3E%3D0.5"))
    assert [reference.number for reference in page.context["explanation"].counted] == [1, 2]
    assert "left out by “w ≥ 0.5”" in page.content.decode()
    none = as_user(viewer).get(item_url(talk, query="?refs=w%3E0.9")).content.decode()
    assert "leaves none of the 7 references" in none


def test_the_page_says_why_the_metric_is_undefined_without_a_positive_weight(talk, viewer, as_user):
    page = as_user(viewer).get(item_url(talk, 1))
    assert "ΔBLEU is undefined for this item" in page.content.decode()
    assert "the highest weighs −0.2" in page.content.decode()
    assert [hypothesis.score for hypothesis in page.context["explanation"].hypotheses] == [None, None]


def test_the_page_says_that_an_item_has_no_references(talk, viewer, as_user):
    second = make_conversations(talk.project, TWO_WAYS, slug="bare")
    empty = make_release(second.reference_set, [], number=2)
    args = [talk.project.slug, second.reference_set.slug, empty.number, second.items[0].pk]
    page = as_user(viewer).get(reverse("metrics:release-item", args=args)).content.decode()
    assert "weighs no reference of this item" in page


@pytest.mark.parametrize("query", ["?order=7", "?order=two", "?semantics=mine", "?refs=best", "?tokenize=x", "?case=x"])
def test_an_unknown_value_is_reported_beside_its_field(talk, viewer, as_user, query):
    answer = as_user(viewer).get(item_url(talk, query=query))
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == [query[1:].split("=")[0]]
    assert answer.context["explanation"].reading == Reading()


def test_the_address_says_how_to_read_and_every_link_keeps_it(talk, viewer, as_user):
    answer = as_user(viewer).get(item_url(talk, query="?order=3&refs=single&semantics=sacrebleu2018&case=kept"))
    reading = answer.context["explanation"].reading
    assert reading == Reading(3, "sacrebleu2018", "13a", False, Subset("original"))
    for url in (answer.context["next_url"], answer.context["csv_url"], answer.context["choose_query"]):
        assert "order=3&semantics=sacrebleu2018&refs=original" in url
    assert answer.context["previous_url"] == ""


def test_a_chosen_reference_has_its_matches_marked_without_script(talk, viewer, as_user):
    answer = as_user(viewer).get(item_url(talk, query="?reference=5"))
    assert answer.context["chosen"].number == 5
    page = answer.content.decode()
    assert page.count("gram-negative is-on") == len(
        [ngram for ngram in answer.context["chosen"].won if ngram.part.order == 1]
    )
    assert as_user(viewer).get(item_url(talk, query="?reference=99")).context["chosen"] is None


def test_tokens_are_the_metrics_own_and_each_has_its_direction(project, viewer, as_user):
    arabic = make_conversations(project, ARABIC, language="ar", slug="ar")
    echo, _ = as_user(viewer).get(item_url(arabic)).context["explanation"].hypotheses
    assert [(token.text, token.rtl) for token in echo.tokens][-2:] == [("new", False), ("york", False)]
    assert echo.tokens[0].rtl

    chinese = make_conversations(project, CHINESE, language="zh", slug="zh")
    echo, _ = as_user(viewer).get(item_url(chinese)).context["explanation"].hypotheses
    assert [token.text for token in echo.tokens] == list("猫在屋顶上")
    mislabelled = make_conversations(project, CHINESE, language="en", slug="unlabelled")
    assert proposed_tokenizer(mislabelled.dataset) == "zh"
    assert default_tokenizer("zh-Hant") == "zh"
    assert default_tokenizer("de") == "13a"


def test_texts_cannot_smuggle_markup(project, viewer, as_user):
    nasty = {
        "context": ["<b>"],
        "message": "<script>",
        "references": [(0.5, "<img> & co", "seed")],
        "outputs": {"<i>Echo</i>": "<img> & more"},
    }
    url = item_url(make_conversations(project, nasty), query="?tokenize=whitespace")  # "13a" would split the tag
    page = as_user(viewer).get(url).content.decode()
    assert "<img>" not in page
    assert "<i>Echo" not in page
    assert "&lt;img&gt;" in page


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "parquet"])
def test_all_matches_of_an_item_can_be_downloaded(talk, viewer, as_user, kind):
    answer = as_user(viewer).get(item_url(talk, query=f"?format={kind}"))
    data = body(answer)
    assert answer["Content-Disposition"].endswith(f'talk-references-v1-item-1-matches.{kind}"')
    if kind == "csv":
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
        assert {row["system"] for row in rows} == {"Bore", "Echo", "Twin", "Quill", "Parrot"}
    if kind == "json":
        rows = json.loads(data)
        echo = [row for row in rows if row["system"] == "Echo"]
        assert sum(row["adds"] for row in echo if row["order"] == 1) == pytest.approx(4.0)
        assert echo == [row | {"system": "Echo"} for row in rows if row["system"] == "Twin"]
        assert echo[0]["held_by"][0]["would_add"] == 0.8
    assert as_user(viewer).get(item_url(talk, query="?format=exe")).status_code == 404


# --- What one reference gave ------------------------------------------------------------------------------------------


def test_the_matches_of_a_reference_add_up_to_what_it_won_on_the_items_page(talk):
    explanation = explain_item(talk.release, talk.items[0], Reading(max_order=3))
    for reference in explanation.references:
        reference_matches = response_matches(talk.release, reference.response, Reading(max_order=3))
        assert reference_matches.n_won == len(reference.won)
        assert exact_sum((match.added for match in reference_matches.matches), explanation.scale) == reference.added
        assert sum(total.held for total in reference_matches.totals) == len(reference_matches.matches)


def test_a_bad_reference_shows_what_it_took_away(talk, viewer, as_user):
    """Besides Parrot's twin only "you should not have let her out" (-.4) has a "not"; it wins Bore's and Parrot's."""
    answer = as_user(viewer).get(matches_url(talk, "you should not have let her out"))
    reference_matches = answer.context["matches"]
    assert [
        (match.ngram.text, match.hypothesis.names[0]) for match in reference_matches.matches if match.holder.wins
    ] == [
        ("not", "Bore"),
        ("not", "Parrot"),
    ]
    assert reference_matches.sums.minus == reference_matches.sums.added == "−0.8"
    assert "−0.8" in answer.content.decode()


def test_as_a_section_it_comes_without_the_page_around_it(talk, viewer, as_user):
    url = matches_url(talk, "i like cats")
    part = as_user(viewer).get(url, headers={"HX-Request": "true"}).content.decode()
    assert part.strip().startswith('<div id="response-matches"')
    assert "<html" in as_user(viewer).get(url).content.decode()


def test_of_several_releases_the_newest_that_is_not_deprecated_comes_first(talk, viewer, as_user):
    response = talk.reference(0, "i like cats")
    weighed = [(talk.items[0], response, 0.5, False)]
    second = make_release(talk.reference_set, weighed, number=2)
    third = make_release(
        talk.reference_set, weighed, number=3, deprecated_at=timezone.now(), deprecation_reason="a wrong scale"
    )
    answer = as_user(viewer).get(matches_url(talk, "i like cats"))
    assert answer.context["release"] == second
    assert "deprecated: a wrong scale" in answer.content.decode()
    chosen = as_user(viewer).get(matches_url(talk, "i like cats", f"?release={third.pk}"))
    assert chosen.context["release"] == third


def test_the_page_says_that_no_release_weighs_a_text(talk, viewer, as_user):
    page = as_user(viewer).get(matches_url(talk, "i hope you find her")).content.decode()
    assert "No release weighs this response" in page
    rows = as_user(viewer).get(matches_url(talk, "i hope you find her", "?format=json"))
    assert json.loads(body(rows)) == []


def test_a_reference_outside_the_subset_wins_nothing(talk, viewer, as_user):
    page = as_user(viewer).get(matches_url(talk, "i like cats", "?refs=w%3E0")).content.decode()
    assert "leaves this reference out" in page


def test_the_matches_of_a_reference_can_be_downloaded(talk, viewer, as_user):
    rows = json.loads(body(as_user(viewer).get(matches_url(talk, "i hope you find her soon", "?format=json"))))
    won = [row for row in rows if row["won"]]
    assert {row["release"] for row in rows} == {"talk-references/v1"}
    assert sum(row["adds"] for row in won if row["system"] == "Echo") == pytest.approx(7.2)
    assert all(row["adds"] == 0 for row in rows if not row["won"])


def test_ten_systems_against_sixteen_references_take_few_queries(project, viewer, django_assert_max_num_queries):
    texts = [" ".join(WORDS[(index * step) % 16] for step in range(1, 15)) for index in range(1, 17)]
    conversation = {
        "context": [],
        "message": "well ?",
        "references": [
            (round(0.9 - index / 8, 1), text, "seed" if index == 0 else "mined")
            for index, text in enumerate(dict.fromkeys(texts))
        ],
        "outputs": {f"System {index}": f"{texts[index]} and so on {index}" for index in range(10)},
    }
    conversations = make_conversations(project, conversation)
    request = RequestFactory().get(item_url(conversations, query="?order=4"))
    request.user, request.htmx, request.resolver_match = viewer, False, resolve(item_url(conversations))
    with django_assert_max_num_queries(14):
        assert release_item(request, **request.resolver_match.kwargs).status_code == 200
