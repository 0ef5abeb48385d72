"""The methods paragraph and the datasheet report what the record holds; statistics are checked against libraries."""

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import krippendorff
import numpy as np
import pandas as pd
import pytest
from django.conf import settings
from markdown_it import MarkdownIt
from scipy.stats import binomtest

from annotation.campaigns.services.rules import rules_register
from annotation.core.errors import AnnotationError
from annotation.core.latex import escape
from annotation.models import (
    Campaign,
    CheckUnit,
    Participation,
    Presentation,
    Project,
    Rater,
    RaterDecision,
    Rating,
    Recruitment,
    Submission,
)
from annotation.quality.services.decisions import raters_replace
from annotation.rating.services.handout import unit_request
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services.datasheet import ManagerAnswer, datasheet_update, sheet_json, sheet_markdown, sheet_of
from annotation.records.services.heds import QUESTIONS
from annotation.records.services.methods import methods_bibtex, methods_latex, methods_sentences, methods_text
from annotation.records.services.papers import record_documents
from tests.annotation.worlds.campaigns import answer, join, make_campaign, make_dataset, rate_next
from tests.snapshots import recalled

VALUES = ([1, 2, 4, 5, 3, 2], [1, 3, 4, 4, 3, 1], [2, 2, 5, 5, 2, 2])  # of three raters on six responses


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return recalled("six responses of three raters", project, lambda: _campaign(project))


def _campaign(project: Project) -> Campaign:
    """Six responses, each rated by the same three raters."""
    campaign = make_campaign(
        make_dataset(project, items=3, systems=("Ada", "Bo")),
        ratings_per_unit=3,
        instructions="Read.",
        consent="Agree?",
    )
    for values in VALUES:
        rater = join(campaign)
        while presentation := unit_request(campaign=campaign, rater=rater):
            assert presentation.unit is not None
            answer(presentation, values[presentation.unit.position])
    return campaign


def sentences(campaign: Campaign) -> str:
    return methods_text(campaign_facts(campaign))


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # pingouin's own use of pandas
def test_agreement_equals_krippendorff_and_pingouin(campaign: Campaign) -> None:
    """Oracles: krippendorff.alpha and pingouin.intraclass_corr (ICC1, ICC1k, their 95% intervals)."""
    import pingouin  # here, because it takes each process that imports it half a second

    (criterion,) = campaign_facts(campaign).criteria
    alpha = krippendorff.alpha(np.array(VALUES, dtype=float), level_of_measurement="ordinal")
    assert criterion.alpha.alpha == pytest.approx(alpha)
    long = pd.DataFrame(
        [(target, rater, value) for rater, row in enumerate(VALUES) for target, value in enumerate(row)],
        columns=["target", "rater", "value"],
    )
    table = pingouin.intraclass_corr(long, targets="target", raters="rater", ratings="value")
    single, mean = table.iloc[0], table.iloc[3]
    assert criterion.icc.icc_1 == pytest.approx(single["ICC"])
    assert criterion.icc.icc_k == pytest.approx(mean["ICC"])
    text = sentences(campaign)
    assert f"Krippendorff's α (ordinal) is {alpha:.2f} " in text
    assert "over 6 responses with two raters or more" in text
    assert f"ICC(1) is {single['ICC']:.2f} [{criterion.icc.icc_1_low:.2f}, {criterion.icc.icc_1_high:.2f}]" in text


def test_counts_match_the_log(campaign: Campaign) -> None:
    first = Presentation.objects.filter(campaign=campaign).earliest("id")
    answer(first, 5 if Rating.objects.filter(presentation=first).get().value != 5 else 4)
    facts = campaign_facts(campaign)
    assert (facts.items, facts.responses, facts.units, facts.slots) == (3, 6, 6, 18)
    assert facts.systems == {"Ada": 3, "Bo": 3}
    assert (facts.judgements, facts.ratings, facts.superseded, facts.late) == (18, 19, 1, 0)
    assert (facts.raters_joined, facts.raters_counted, facts.per_rater) == (3, 3, (6, 6.0, 6))
    text = sentences(campaign)
    assert "Raters judged 6 responses of 2 systems to 3 items" in text
    assert "The target was 3 answers to each, from different raters." in text
    assert "18 answers were received, with 19 ratings in the log, 1 correction included." in text
    assert "3 raters took part, each answering 6 items." in text
    assert campaign.design_hash in text
    assert f"seed {campaign.seed}" in text
    assert f"Assay {settings.VERSION}" in text


def test_the_paragraph_names_what_was_not_done(campaign: Campaign) -> None:
    text = sentences(campaign)
    for sentence in (
        "There was no training.",
        "There was no qualification test.",
        "No checks were mixed into the work.",
        "No rules about raters were registered.",
        "No rater was excluded.",
        "No payment is in the record.",
        "It was not amended afterwards.",
    ):
        assert sentence in text
    rule = {"rule": "median_seconds_below", "version": 1, "action": "flag", "seconds": 2, "after": 10}
    rules_register(campaign=campaign, records=[rule])
    assert "registered after launch only: Flag raters whose median time is below 2 s, after 10" in sentences(campaign)


def test_excluded_raters_are_left_out_of_statistics_and_counted(campaign: Campaign) -> None:
    before = campaign_facts(campaign)
    participation = Participation.objects.filter(campaign=campaign).latest("id")
    RaterDecision.objects.create(campaign=campaign, rater=participation.rater, action="exclude", reason="By hand.")
    Participation.objects.filter(pk=participation.pk).update(excluded_at=datetime.now(UTC))
    facts = campaign_facts(campaign)
    assert (facts.raters_counted, facts.criteria[0].n_ratings) == (2, 12)
    assert (facts.ratings, before.ratings) == (18, 18)
    counted = Presentation.objects.filter(campaign=campaign, purpose="work").exclude(rater=participation.rater)
    seconds = [(ended - shown).total_seconds() for shown, ended in counted.values_list("shown_at", "ended_at")]
    assert facts.median_seconds == pytest.approx(float(np.median(seconds)), abs=1e-6)
    expected = krippendorff.alpha(np.array(VALUES[:2], dtype=float), level_of_measurement="ordinal")
    assert facts.criteria[0].alpha.alpha == pytest.approx(expected)
    assert "1 rater was excluded, by hand; their 6 answers, with 6 ratings, stay in the log" in methods_text(facts)
    assert raters_replace(campaign=campaign) == 6
    text = methods_text(campaign_facts(campaign))
    assert "1 rater was excluded, by hand; their 6 answers, with 6 ratings, stay in the log" in text
    assert "The slots of 6 further answers were given to other raters later." in text


def test_the_hourly_rate_comes_from_the_providers_payments(campaign: Campaign) -> None:
    """By hand: 3.00 + 1.00 for 20 minutes and 3.00 for 40 minutes are 7.00 an hour; the raters had 12.00 and 4.50."""
    recruitment = Recruitment.objects.create(campaign=campaign, provider="prolific", name="First")
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    raters = Rater.objects.filter(participations__campaign=campaign)[:2]
    for rater, minutes, paid, bonus in zip(raters, (20, 40), ("3", "3"), ("1", None), strict=True):
        Submission.objects.create(
            recruitment=recruitment,
            rater=rater,
            external_id=f"session-{minutes}",
            paid=paid,
            bonus=bonus,
            started_at=start,
            ended_at=start + timedelta(minutes=minutes),
        )
    paid_out = campaign_facts(campaign).payment
    assert paid_out is not None
    assert (paid_out.source, paid_out.raters, paid_out.total, paid_out.bonus) == ("provider", 2, 7.0, 1.0)
    assert paid_out.hourly == pytest.approx(7.0)
    assert (paid_out.hourly_median, paid_out.hourly_lowest) == (pytest.approx(8.25), pytest.approx(4.5))
    text = sentences(campaign)
    assert "2 raters were paid 7.00 GBP in all, as the provider reports, bonuses of 1.00 GBP included." in text
    assert "That is 7.00 GBP an hour (median over raters 8.25, lowest 4.50" in text
    assert "Raters came through Prolific and by an open direct link." in text
    Submission.objects.bulk_create(
        Submission(recruitment=recruitment, rater=rater, external_id=f"more-{rater.pk}")
        for rater in Rater.objects.filter(participations__campaign=campaign, submissions__isnull=True)
    )
    assert "Raters came through Prolific." in sentences(campaign)


def test_without_a_provider_the_amount_due_is_reported(campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(payment_per_unit=Decimal("0.12"), payment_currency="EUR")
    Presentation.objects.filter(campaign=campaign).update(shown_at=datetime(2026, 3, 1, tzinfo=UTC))
    Presentation.objects.filter(campaign=campaign).update(ended_at=datetime(2026, 3, 1, 0, 1, tzinfo=UTC))
    campaign.refresh_from_db()
    due = campaign_facts(campaign).payment
    assert due is not None
    assert (due.source, due.raters, round(due.total, 2)) == ("due", 3, 2.16)  # 18 screens
    assert due.hourly == pytest.approx(0.12 * 60)  # a minute each
    assert "payments made are not in the record" in sentences(campaign)


def test_an_empty_campaign_has_a_correct_paragraph(project: Project) -> None:
    text = sentences(make_campaign(make_dataset(project)))
    assert "No ratings that count have been collected yet." in text
    assert "nan" not in text


def test_the_paragraph_of_a_draft_calls_it_a_draft(project: Project) -> None:
    assert "the campaign is a draft, its design not yet frozen" in sentences(
        make_campaign(make_dataset(project), launch=False)
    )


def test_every_sentence_names_its_source(campaign: Campaign) -> None:
    sentences_found = methods_sentences(campaign_facts(campaign))
    assert {sentence.source for sentence in sentences_found} <= {
        "design",
        "raters",
        "ratings",
        "quality",
        "payment",
        "audit",
        "presentations",
    }


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50% & _x_ #1 {a} ~ ^ $", r"50\% \& \_x\_ \#1 \{a\} \textasciitilde{} \textasciicircum{} \$"),
        ("α is −0.20 “so”", r"$\alpha$ is $-$0.20 ``so''"),
        ("\\", r"\textbackslash{}"),
    ],
)
def test_latex_characters_are_escaped(text: str, latex: str) -> None:
    assert escape(text) == latex


def test_the_latex_cites_entries_that_the_bibtex_has(campaign: Campaign) -> None:
    latex, bibtex = methods_latex(campaign_facts(campaign)), methods_bibtex(campaign)
    cited = [part.split("}")[0] for part in latex.split(r"\cite{")[1:]]
    assert cited
    assert all(f"{{{key}," in bibtex for key in cited)


def test_repeats_and_checks_are_counted(campaign: Campaign) -> None:
    """By hand: two repeats, one equal and one a point off; one check inside its range of two."""
    criterion = campaign.criteria.get()
    first, second = Presentation.objects.filter(campaign=campaign).order_by("id")[:2]
    for shown, off in ((first, 0), (second, 1)):
        repeat = Presentation.objects.create(
            campaign=campaign,
            purpose="repeat",
            unit=shown.unit,
            repeats=shown,
            rater=shown.rater,
            order=[0],
            shown_at=shown.shown_at,
            ended_at=shown.ended_at,
            outcome="submitted",
        )
        value = Rating.objects.get(presentation=shown).value + off
        repeat.check_answers.create(
            campaign=campaign, rater=shown.rater, criterion=criterion, number=0, position=0, value=value
        )
    check = CheckUnit.objects.create(
        campaign=campaign,
        kind="gold",
        number=0,
        texts=[{"text": "Yes.", "role": "gold", "response": None, "expected": {"relevance": [4, 5]}}],
    )
    for rater, value in zip(Rater.objects.filter(participations__campaign=campaign)[:2], (5, 2), strict=True):
        shown = Presentation.objects.create(
            campaign=campaign,
            purpose="gold",
            check_unit=check,
            rater=rater,
            order=[0],
            shown_at=first.shown_at,
            ended_at=first.ended_at,
            outcome="submitted",
        )
        shown.check_answers.create(
            campaign=campaign, rater=rater, criterion=criterion, number=0, position=0, value=value
        )
    facts = campaign_facts(campaign)
    (criterion_facts,) = facts.criteria
    assert (criterion_facts.repeated.hits, criterion_facts.repeated.n, criterion_facts.repeat_difference) == (1, 2, 0.5)
    assert facts.screens["gold"].within is not None
    assert (facts.screens["gold"].within.hits, facts.screens["gold"].within.n) == (1, 2)
    assert criterion_facts.n_ratings == 18
    entries = {entry.key: entry for entry in sheet_of(facts).entries}
    assert entries["4.3.12.2:relevance"].recorded is not None
    assert "1 of 2 (50.0% [9.5, 90.5])" in entries["4.3.12.2:relevance"].recorded.text  # Wilson, by scipy below
    low, high = binomtest(1, 2).proportion_ci(method="wilson")
    assert (round(100 * low, 1), round(100 * high, 1)) == (9.5, 90.5)


def test_the_datasheet_has_every_question_of_heds_3_once(campaign: Campaign) -> None:
    """The numbers run as the paper's introduction says, section by section."""
    numbers = [question.number for question in QUESTIONS]
    assert len(set(numbers)) == len(numbers)
    ends = {section: [n for n in numbers if n[0] == section] for section in "12345"}
    assert {section: (section_numbers[0], section_numbers[-1]) for section, section_numbers in ends.items()} == {
        "1": ("1.1.1", "1.3.2.3"),
        "2": ("2.1", "2.5"),
        "3": ("3.1.1", "3.3.8"),
        "4": ("4.1.1", "4.3.12.2"),
        "5": ("5.1", "5.4"),
    }
    sheet = sheet_of(campaign_facts(campaign))
    markdown = sheet_markdown(sheet)
    for number in numbers:
        assert f"**{number} " in markdown


def test_answers_from_the_record_are_marked(campaign: Campaign) -> None:
    sheet = sheet_of(campaign_facts(campaign))
    entries = {entry.key: entry for entry in sheet.entries}
    for key, expected in (
        ("3.2.1", "3"),
        ("4.3.3:relevance", "5"),
        ("4.3.4:relevance", "1, 2, 3, 4, 5"),
        ("2.4", "en"),
        ("4.3.7:relevance", "How relevant is the response?"),
        ("3.1.1", "Ada: 3; Bo: 3"),
        ("4.3.2:relevance", "Read."),
    ):
        recorded = entries[key].recorded
        assert recorded is not None
        assert recorded.final
        assert expected in recorded.text
        assert f"*record:* {recorded.text}" in sheet_markdown(sheet)
    assert entries["4.2.2:relevance"].chosen == ["1. Absolutely"]
    assert entries["3.3.3.1"].chosen == ["7. None of these"]
    assert not entries["5.1"].is_answered
    assert "*not answered yet*" in sheet_markdown(sheet)


def test_what_people_typed_is_text_in_every_document(campaign: Campaign) -> None:
    """Markdown readers such as a repository's page run HTML and links that a file contains."""
    attack = "<img src=x onerror=alert(1)> [a](javascript:alert(1))\n```\n<script>"
    Campaign.objects.filter(pk=campaign.pk).update(name=attack[:60], instructions=attack)
    campaign.dataset.name = attack[:60]
    campaign.dataset.save()
    campaign.criteria.update(question=attack)
    campaign.refresh_from_db()
    datasheet_update(campaign=campaign, answers={"5.1": ManagerAnswer(attack)})
    documents = record_documents(campaign)
    for name in ("methods.md", "heds.md"):
        page = MarkdownIt("commonmark", {"html": True}).enable("table").render(documents[name])
        assert "onerror" in page
        assert not re.search(r"<(img|script)|href=\"java", page), name
        assert page.count("<pre>") == (2 if name == "methods.md" else 0)  # LaTeX and BibTeX


def test_the_managers_answers_are_shown_beside_the_records(campaign: Campaign) -> None:
    datasheet_update(
        campaign=campaign,
        answers={
            "5.1": ManagerAnswer("Ours."),
            "3.2.3": ManagerAnswer("By a poster."),
            "3.3.3.1": ManagerAnswer("", (1,)),
            "5.2": ManagerAnswer("", (1,)),
        },
    )
    sheet = sheet_of(campaign_facts(campaign))
    entries = {entry.key: entry for entry in sheet.entries}
    assert entries["5.1"].is_answered
    assert entries["5.2"].chosen == ["1. No"]
    assert "By a poster." in sheet_markdown(sheet)
    assert '"text": "By a poster."' in sheet_json(sheet)
    assert sheet.n_answered > sheet.n_from_record > 15
    datasheet_update(campaign=campaign, answers={"5.1": ManagerAnswer()})
    assert not {entry.key: entry for entry in sheet_of(campaign_facts(campaign)).entries}["5.1"].is_answered


@pytest.mark.parametrize(
    ("key", "given_answer", "problem"),
    [
        ("9.9", ManagerAnswer("x"), "Not a question"),
        ("4.1.1:grace", ManagerAnswer(choices=(1,)), "Not a question"),
        ("4.1.1", ManagerAnswer(choices=(1,)), "Not a question"),
        ("5.1:relevance", ManagerAnswer("x"), "Not a question"),
        ("5.2", ManagerAnswer(choices=(3,)), "Found option 3; accepted: 1 to 2."),
        ("5.2", ManagerAnswer(choices=(1, 2)), "Found 2 options; accepted: one."),
        ("5.1", ManagerAnswer("a\x00b"), "NUL"),
    ],
)
def test_invalid_answers_are_refused_with_the_accepted_ones(
    campaign: Campaign, key: str, given_answer: ManagerAnswer, problem: str
) -> None:
    with pytest.raises(AnnotationError) as refused:
        datasheet_update(campaign=campaign, answers={key: given_answer})
    assert problem in refused.value.fields[key][0]


def test_undefined_agreement_is_not_written_as_nan(project: Project) -> None:
    campaign = make_campaign(make_dataset(project))
    rate_next(campaign, join(campaign), 3)
    facts = campaign_facts(campaign)
    assert math.isnan(facts.criteria[0].alpha.alpha)
    assert "agreement is undefined (no response has ratings of two raters)" in methods_text(facts)
    assert "nan" not in sheet_markdown(sheet_of(facts)).lower().split()


def test_an_imported_campaign_claims_nothing_about_its_collection(campaign: Campaign) -> None:
    """The record of an imported campaign does not know how raters were recruited or paid."""
    Campaign.objects.filter(pk=campaign.pk).update(imported=True)
    campaign.refresh_from_db()
    text = sentences(campaign)
    assert "how raters were recruited, prepared, checked and paid is not in the record" in text
    for claim in ("There was no training", "No checks were mixed in", "No payment", "consent", "seed"):
        assert claim not in text
