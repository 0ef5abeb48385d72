"""The playground: it shows what the metrics compute, whatever is typed, and stores nothing."""

import re
from html.parser import HTMLParser

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from sacrebleu.metrics import CHRF, TER

from annotation.core.turns import SLOW_METRICS
from annotation.models import Project, Response, ResponseSource, System
from metrics.forms.playground import LONGEST_QUERY, MOST_REFERENCES, run_settings
from metrics.models import ScoreRun
from metrics.scoring.am_fm import AmFm
from metrics.scoring.delta_bleu import sentence_delta_bleu
from metrics.scoring.meteor import Meteor
from metrics.scoring.metric import Workspace
from metrics.scoring.rouge_l import RougeL
from metrics.scoring.segments import Segments
from metrics.selectors.models import models_of_run
from metrics.selectors.playground_scores import BUSY, SLOW_AT_ONCE
from metrics.services.scoring import model_store
from tests.metrics.conversations import ARABIC, CHINESE, make_conversations
from tests.metrics.played import train_models
from tests.metrics.runs import finished_run

pytestmark = pytest.mark.django_db

HYPOTHESIS = "i do not know what you mean"
REFERENCES = ["i do like it , it is beautiful", "i know what you mean", "i do not know"]
WEIGHTS = [0.9, 0.3, -0.6]
TYPED = {"h": HYPOTHESIS, "r": REFERENCES, "w": [str(weight) for weight in WEIGHTS]}


@pytest.fixture
def models(project, settings, tmp_path):
    settings.MODELS_DIR = tmp_path / "models"
    return train_models(project, "lsa", "language_model", "vectors")


@pytest.fixture
def url(project) -> str:
    return reverse("metrics:playground", args=[project.slug])


@pytest.fixture
def member(as_user, viewer):
    return as_user(viewer)


class _Marked(HTMLParser):
    """Texts of elements with a data attribute, or of those with an id."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.found, self.depth = name, [], 0

    def handle_starttag(self, tag, attributes):
        if self.depth:
            self.depth += 1
        elif self.name in dict(attributes) or dict(attributes).get("id") == self.name:
            self.depth = 1
            self.found.append("")

    def handle_endtag(self, tag):
        self.depth = max(0, self.depth - 1)

    def handle_data(self, data):
        if self.depth:
            self.found[-1] += data


def numbers(page, name: str) -> list[float]:
    reader = _Marked(name)
    reader.feed(page.content.decode())
    return [float(text.replace("−", "-")) for text in reader.found]


def score_of(page, metric: str) -> float:
    row = re.search(rf'data-metric="{metric}".*?data-score>([^<]*)<', page.content.decode(), re.DOTALL)
    return float(row.group(1).replace("−", "-"))


def test_an_outsider_gets_404_a_stranger_signs_in_and_nothing_else_is_taken(url, outsider, viewer, as_user, client):
    assert as_user(outsider).get(url).status_code == 404
    assert as_user(outsider).post(url, TYPED).status_code == 404
    assert client.get(url).status_code == 302
    assert as_user(viewer).put(url).status_code == 405


def test_an_empty_page_offers_examples_that_all_work(url, member, models):
    page = member.get(url)
    assert page.status_code == 200
    for example in page.context["examples"]:
        example_page = member.get(f"{url}?{example['query']}")
        assert example_page.status_code == 200
        assert example_page.context["played"] is not None


def test_the_numbers_are_those_of_the_metrics(url, member, models):
    page = member.get(url, TYPED)
    (hypothesis,) = page.context["played"].explanation.hypotheses
    options = {"tokenize": "whitespace", "lowercase": True}
    expected = sentence_delta_bleu(HYPOTHESIS, REFERENCES, WEIGHTS, **options)
    assert hypothesis.score == pytest.approx(expected, abs=1e-12)
    assert score_of(page, "delta_bleu") == round(expected, 4)

    segments = Segments([[HYPOTHESIS]], [REFERENCES])
    am_fm = AmFm(am_model=models["lsa"].reference, fm_model=models["language_model"].reference)
    for metric in (RougeL(**options), am_fm):
        score = Workspace(segments, [metric], model_store()).statistics(metric).sentence_scores[0, 0]
        assert score_of(page, metric.name) == round(score, 4)
    # sacrebleu 2.x
    assert score_of(page, "chrf") == round(CHRF(lowercase=True).sentence_score(HYPOTHESIS, REFERENCES).score / 100, 4)
    assert page.context["played"].am_fm.score == pytest.approx(score, abs=1e-9)


def test_sums_shown_add_up_as_they_are_written(url, member, models):
    page = member.get(url, TYPED)
    (cosine,) = numbers(page, "play-cosine")
    assert sum(numbers(page, "data-pair")) == pytest.approx(cosine, abs=1e-9)
    hypothesis_total, reference_total = numbers(page, "data-total")
    logs = numbers(page, "data-log")
    n_words = len(page.context["played"].fluency.hypothesis.words)
    assert sum(logs[:n_words]) == pytest.approx(hypothesis_total, abs=1e-9)
    assert sum(logs[n_words:]) == pytest.approx(reference_total, abs=1e-9)
    (combined,) = numbers(page, "play-both")
    assert sum(numbers(page, "data-share")) == pytest.approx(combined, abs=1e-9)


def test_another_reference_can_be_chosen(url, member, models):
    page = member.get(url, TYPED | {"versus": "3"})
    assert page.context["played"].adequacy.versus == page.context["played"].fluency.versus == 3
    best = page.context["played"].adequacy
    assert best.score == max(reference.value for reference in best.references)


def test_the_page_says_that_texts_of_unknown_words_alone_count_as_equal(url, member, models):
    """nlg-eval gives each unknown word the mean vector: two such texts are one vector, and its cosine with itself 1."""
    unknown = {"h": "Qwzx vvkq", "r": ["blorpf", "what do you mean", "zzyqx qwzx"]}
    page = member.get(url, unknown)
    for metric in ("embedding_average", "vector_extrema", "greedy_matching"):
        assert score_of(page, metric) == 1
    message = "No word of the hypothesis, reference 1 or reference 3 has a vector"
    assert page.content.decode().count(message) == 1
    assert "No word of reference 1 or reference 3 has" in member.get(url, unknown | {"h": "what"}).content.decode()
    for query in ({"r": ["what do you mean"], "h": "what blorpf"}, {"r": ["what do you mean"], "h": ""}):
        assert "has a vector" not in member.get(url, query).content.decode()


def test_settings_reach_every_metric_that_has_them(url, member, models):
    page = member.get(url, TYPED | {"order": "4", "case": "kept", "k": "5", "n": "3", "balance": "0.5"})
    body = page.content.decode()
    assert "delta_bleu|order:4|sem:galley2015|tok:whitespace|lc:no" in body
    assert "am_fm|lambda:0.5|k:5|order:3" in body


def test_without_models_the_page_says_how_to_train_one(url, as_user, manager, viewer):
    text = as_user(manager).get(url, TYPED).content.decode()
    assert "No LSA space has been trained in this project." in text
    assert "models/new/?kind=lsa" in text
    assert "models/new/?kind=vectors" in text
    assert "A manager of the project can train one" in as_user(viewer).get(url, TYPED).content.decode()


def test_a_model_with_missing_files_breaks_only_what_reads_it(url, member, models, settings, tmp_path):
    settings.MODELS_DIR = tmp_path / "elsewhere"
    page = member.get(url, TYPED)
    assert page.status_code == 200
    assert "found no lsa model" in page.context["played"].adequacy.reason
    assert score_of(page, "rouge_l") > 0


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"h": "word " * 2001}, "h", "Found 2,001 words; accepted: up to 2,000."),
        ({"s": "x" * 20_001}, "s", "Found 20,001 characters; accepted: up to 20,000."),
        ({"h": "猫" * 2001, "tokenize": "zh"}, "h", "Found 2,001 words; accepted: up to 2,000."),
        ({"order": "9"}, "order", "Select a valid choice"),
        ({"k": "99"}, "k", "Found 99; accepted: 1 to 30, as “Chat space v1” has."),
        ({"n": "5"}, "n", "Found 5; accepted: 1 to 3, as “Chat bigrams v1” has."),
        ({"am": "999999"}, "am", "Select a valid choice"),
    ],
)
def test_what_cannot_be_read_is_reported_at_its_field(url, member, models, changes, field, message):
    page = member.post(url, TYPED | changes)
    assert page.status_code == 400
    assert message in page.context["form"][field].errors[0]
    assert page.context["played"] is None


@pytest.mark.parametrize(
    ("weight", "accepted"), [("1.1", False), ("nan", False), ("x", False), ("−0.5", True), ("", True), (" .5 ", True)]
)
def test_a_weight_is_a_number_from_minus_one_to_one(url, member, weight, accepted):
    page = member.get(url, {"h": "a", "r": "a", "w": weight})
    assert page.status_code == (200 if accepted else 400)
    assert bool(page.context["form"].rows[0].weight_errors) is not accepted


def test_a_weight_left_empty_is_said_to_count_as_one(url, member):
    note = "No weight: counts as 1."
    assert note in member.get(url, {"h": "a", "r": "a", "w": ""}).content.decode()
    assert note not in member.get(url, {"h": "a", "r": "a", "w": "0.5"}).content.decode()
    assert note not in member.get(url, {"h": "a", "r": "", "w": ""}).content.decode()


def test_a_score_of_several_references_says_what_it_takes_of_them(url, member):
    # Precision 3/3 of the first, recall 2/2 of the second; edits to the second, over the mean length of both.
    page = member.get(url, {"h": "a b c", "r": ["a b c d e f", "a b"], "case": "kept"}).content.decode()
    assert "the best precision and the best recall, here of different references" in page
    assert "edits to the closest, over the mean length of all" in page


def test_the_scores_say_how_each_family_reads_punctuation(url, member):
    assert "“film.” is not “film”" in member.get(url, {"h": "a film.", "r": "a film"}).content.decode()
    chosen = member.get(url, {"h": "a film.", "r": "a film", "tokenize": "13a"}).content.decode()
    assert "the words of the chosen tokeniser, with punctuation" in chosen


def test_more_references_than_fit_are_refused(url, member):
    page = member.get(url, {"h": "a", "r": ["a"] * (MOST_REFERENCES + 5)})
    assert page.status_code == 400
    assert "Found 25 references; accepted: up to 20." in page.content.decode()


@pytest.mark.parametrize(
    "typed",
    [
        {"h": "", "r": ["a b"]},
        {"h": "a b", "r": [""]},
        {"h": "a b"},
        {"s": "only a message"},
        {"h": "🙂 👩‍👩‍👧 e\u0301", "r": ["🙂 é", "👩‍👩‍👧"]},
        {"h": "القطة ذهبت إلى New York", "r": ["ذهبت القطة إلى New York أمس"]},
        {"h": "猫在屋顶上", "r": ["我的猫在屋顶上睡觉"], "tokenize": "zh"},
        {"h": "<script>alert(1)</script>", "r": ["<b>a</b>"]},
        {"h": "a b", "r": ["a", "b"], "w": ["-1", "0"]},
        {"h": "? !", "r": ["..."]},
        {"h": "</s> <unk>", "r": ["<s> a"]},
    ],
)
def test_any_text_has_an_answer(url, member, models, typed):
    page = member.get(url, typed)
    assert page.status_code == 200
    assert page.context["played"] is not None
    assert "<script>alert" not in page.content.decode()


def test_chinese_without_spaces_gets_a_hint(url, member):
    assert "without spaces between words" in member.get(url, {"h": "猫在屋顶上", "r": "我的猫"}).content.decode()
    arabic = {"h": "أين ذهبت القطة؟", "r": "القطة ذهبت"}
    assert "punctuation stays on the words" in member.get(url, arabic).content.decode()
    for fits in (TYPED, arabic | {"tokenize": "intl"}):
        text = member.get(url, fits).content.decode()
        assert "spaces between words" not in text
        assert "stays on the words" not in text


def line_of(page, metric: str):
    return next(line for group in page.context["played"].groups for line in group.lines if line.metric.name == metric)


def test_slow_metrics_wait_until_they_are_requested(url, member, monkeypatch):
    monkeypatch.setattr(Meteor, "unavailable", classmethod(lambda cls: ""))
    started = []
    monkeypatch.setattr(Meteor, "preparation", lambda self: started.append(self))
    # A link alone does not request it: its reader has not pressed the button.
    assert line_of(member.get(url, TYPED | {"ask": "meteor"}), "meteor").on_request
    assert not started
    middling = {"h": "a b c " * 20, "r": ["b c d " * 30]}
    assert line_of(member.get(url, middling), "ter").on_request
    line = line_of(member.post(url, middling | {"ask": "ter"}), "ter")
    assert line.score == pytest.approx(TER().sentence_score(middling["h"], middling["r"]).score / 100)
    endless = {"h": "a b c " * 200, "r": ["b c d " * 200]}
    assert "too long to try" in line_of(member.get(url, endless), "ter").reason


@pytest.mark.parametrize(
    ("program", "patience", "reason"), [("exec sleep 600", 0.05, "no answer within 0.05 s"), ("exit 3", 60, "status 3")]
)
def test_a_program_that_hangs_or_fails_is_given_up_with_its_reason(
    url, member, monkeypatch, tmp_path, program, patience, reason
):
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{program}\n")
    java.chmod(0o755)
    monkeypatch.setattr("metrics.scoring.meteor_jar.find_java", lambda: str(java))
    monkeypatch.setattr("metrics.scoring.meteor_jar.find_jar", lambda: tmp_path)
    monkeypatch.setattr("metrics.selectors.playground_scores.PATIENCE", patience)
    assert reason in line_of(member.post(url, TYPED | {"ask": "meteor"}), "meteor").reason


def test_no_more_programs_are_started_at_once_than_the_server_can_take(url, member, monkeypatch, tmp_path):
    """Each request for METEOR starts a Java program; other processes hold their places in the database."""
    started = tmp_path / "started"
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho started >> {started}\nexit 3\n")
    java.chmod(0o755)
    monkeypatch.setattr("metrics.scoring.meteor_jar.find_java", lambda: str(java))
    monkeypatch.setattr("metrics.scoring.meteor_jar.find_jar", lambda: tmp_path)
    others = connection.copy()
    try:
        for place in range(SLOW_AT_ONCE):
            assert "status 3" in line_of(member.post(url, TYPED | {"ask": "meteor"}), "meteor").reason
            with others.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock(%s, %s)", [SLOW_METRICS, place])
        started.unlink()
        page = member.post(url, TYPED | {"ask": "meteor"})
        assert line_of(page, "meteor").reason == BUSY
        assert BUSY in page.content.decode()
        assert line_of(page, "bleu").score is not None
        assert not started.exists()
    finally:
        others.close()
    assert "status 3" in line_of(member.post(url, TYPED | {"ask": "meteor"}), "meteor").reason


def test_cider_says_why_one_segment_is_not_enough(url, member):
    assert "Of one segment there" in member.get(url, TYPED).content.decode()


def test_a_short_state_becomes_an_address_and_a_long_one_is_only_sent(url, member):
    redirect = member.post(url, TYPED)
    assert redirect.status_code == 302
    page = member.get(redirect.url)
    assert [row.text for row in page.context["form"].rows] == REFERENCES
    assert [row.weight for row in page.context["form"].rows] == TYPED["w"]
    long = member.post(url, TYPED | {"h": "word " * 1500})
    assert long.status_code == 200
    assert "too long for an address" in long.content.decode()
    assert len(redirect.url) < LONGEST_QUERY


def test_while_typing_only_the_scores_and_the_errors_come(url, member):
    headers = {"HX-Request": "true", "HX-Target": "play-result"}
    part = member.post(url, TYPED, headers=headers)
    body = part.content.decode()
    assert "<html" not in body
    assert "<form" not in body
    assert part["HX-Replace-Url"].startswith(f"{url}?h=i+do")
    assert 'id="weight-3-errors" hx-swap-oob="true"' in body
    assert member.post(url, TYPED | {"h": "word " * 1500}, headers=headers)["HX-Replace-Url"] == url


def test_rows_are_added_and_removed_without_script(url, member):
    added = member.post(url, TYPED | {"add": "1"}).context["form"].rows
    assert [row.text for row in added] == [*REFERENCES, ""]
    removed = member.post(url, TYPED | {"remove": "2"}).context["form"].rows
    assert [(row.number, row.text, row.weight) for row in removed] == [
        (1, REFERENCES[0], "0.9"),
        (2, REFERENCES[2], "-0.6"),
    ]
    last = member.post(url, {"h": "a", "r": ["b"], "remove": "1"}).context["form"].rows
    assert [row.text for row in last] == [""]
    assert member.post(url, TYPED | {"remove": "zzz"}).status_code == 200


def test_the_form_is_filled_with_an_items_output_and_references(member, project):
    conversations = make_conversations(project)
    item = conversations.items[0]
    source = ResponseSource.objects.get(item=item, system__name="Quill")
    query = {"item": item.pk, "system": source.system_id, "release": conversations.release.pk}
    page = member.get(reverse("metrics:playground", args=[project.slug]), query)
    form = page.context["form"]
    assert form.data["h"] == "did you look in the garden ? i hope you find her soon"
    assert form.data["s"] == item.message
    assert [(row.text, row.weight) for row in form.rows][:2] == [
        ("i hope you find her soon", "0.8"),
        ("cats always come back home , i am sure she is fine", "0.6"),
    ]
    assert "Quill’s output for item 1" in page.content.decode()
    assert member.get(page.request["PATH_INFO"], {"item": 987654321}).status_code == 404


def test_pages_of_an_item_and_of_its_outputs_link_to_the_playground(member, project):
    conversations = make_conversations(project)
    item = conversations.items[0]
    page = member.get(
        reverse("metrics:release-item", args=[project.slug, conversations.reference_set.slug, 1, item.pk])
    )
    links = re.findall(r'href="([^"]*/playground/\?item[^"]*)"', page.content.decode())
    texts = [member.get(link.replace("&amp;", "&")).context["form"].data.get("h", "") for link in links]
    assert texts == [hypothesis.response.text for hypothesis in page.context["explanation"].hypotheses]
    item_page = member.get(reverse("annotation:item-detail", args=[project.slug, conversations.dataset.slug, item.pk]))
    (link,) = re.findall(r'href="([^"]*/playground/\?item[^"]*)"', item_page.content.decode())
    assert member.get(link.replace("&amp;", "&")).context["form"].rows[0].text == "i hope you find her soon"


def test_the_tokeniser_follows_the_language_of_the_item(member, project):
    chinese = make_conversations(project, CHINESE, language="zh", slug="zh")
    page = member.get(
        reverse("metrics:playground", args=[project.slug]), {"item": chinese.items[0].pk, "release": chinese.release.pk}
    )
    assert page.context["form"].data["tokenize"] == "zh"
    arabic = make_conversations(project, ARABIC, language="ar", slug="ar")
    page = member.get(reverse("metrics:playground", args=[project.slug]), {"item": arabic.items[0].pk})
    assert page.context["form"].data["tokenize"] == "13a"


def test_an_item_of_another_project_is_404(url, member):
    other_talk = make_conversations(Project.objects.create(name="Elsewhere", slug="elsewhere"))
    assert member.get(url, {"item": other_talk.items[0].pk}).status_code == 404


def test_nothing_is_stored_and_few_queries_are_made(url, member, models):
    before = Response.objects.count(), ScoreRun.objects.count()
    with CaptureQueriesContext(connection) as queries:
        member.post(url, TYPED, headers={"HX-Request": "true", "HX-Target": "play-result"})
    assert (Response.objects.count(), ScoreRun.objects.count()) == before
    assert all(query["sql"].lstrip().startswith(("SELECT", "SAVEPOINT", "RELEASE")) for query in queries)
    assert len(queries) <= 10


def test_a_segment_of_a_run_opens_with_the_runs_settings_and_has_its_score(member, project, models):
    conversations = make_conversations(project)
    systems = list(System.objects.filter(dataset=conversations.dataset))
    parameters = {"max_order": 3, "semantics": "sacrebleu2018", "tokenize": "13a", "lowercase": False}
    run = finished_run(conversations, "delta_bleu", systems=systems, **parameters)
    score = run.scores.get(system__name="Quill")
    address = reverse(
        "metrics:run-segment", args=[project.slug, run.number, score.system_id, conversations.items[0].pk]
    )
    page = member.get(address)
    (link,) = re.findall(r'href="([^"]*/playground/\?item[^"]*)"', page.content.decode())
    context = member.get(link.replace("&amp;", "&")).context
    assert {name: context["form"].data[name] for name in ("order", "semantics", "tokenize", "case")} == {
        "order": "3",
        "semantics": "sacrebleu2018",
        "tokenize": "13a",
        "case": "kept",
    }
    assert context["played"].explanation.hypotheses[0].score == pytest.approx(page.context["segment"].score, abs=1e-9)

    am_fm_run = finished_run(conversations, "am_fm", systems=systems, k=3, order=1, balance=0.3)
    expected = run_settings(am_fm_run)
    assert (expected["k"], expected["n"], expected["balance"]) == ("3", "1", "0.3")
    assert {expected["am"], expected["fm"]} == {str(model.pk) for _, model in models_of_run(am_fm_run)}


def test_the_words_of_all_texts_together_are_bounded(project, viewer, as_user) -> None:
    sent = {"h": "a " * 101, "r": ["b " * 100] * 19, "w": ["1"] * 19}
    answer = as_user(viewer).get(reverse("metrics:playground", args=[project.slug]), sent)
    assert (answer.status_code, "Found 2,001 words in all texts; accepted: up to 2,000." in answer.text) == (400, True)
