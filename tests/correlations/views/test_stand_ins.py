"""The page that says whether a judge can stand in for raters."""

import csv
import io
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Participation, Rater, RaterIdentity
from correlations.models import Study
from correlations.overview import _newest_of_each_question, stand_in_findings
from correlations.results.study import StudyResult
from correlations.results.worth import LeftOutRater, RowWorth
from correlations.selectors.ceilings import too_good
from correlations.selectors.changes import changes_since, extends, question_of
from correlations.selectors.printed import imported_notes
from correlations.selectors.printed_tables import stand_in_grid
from correlations.selectors.stand_in_charts import agreement_figure
from correlations.selectors.stand_in_words import (
    IMPORT,
    RATE,
    SCORES,
    stand_in_answer,
    stand_in_finding,
    stand_in_methods,
    stand_in_paragraph,
    stand_in_sentence,
)
from correlations.selectors.worth import StandInReport, answers, stand_in_report
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from correlations.stats.worth import MARGINS
from metrics.models import ScoreRun
from tests.correlations.services.test_any_metric import make_imported_run
from tests.metrics.world import World

# Oracle's scores are the ratings themselves: closer to them than is expected of any score that has not seen them.
SEEN = "agrees with these ratings more closely than is expected of a score that has not seen them."

ALL_KINDS = "a rater"

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(world: World) -> Study:
    run = make_imported_run(world, lowest=1.0, highest=5.0)
    changes = {"metrics": ["bleu", {"run": run.number}], "subsets": ["all"], "bootstrap": 0, "assignments": 2}
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return study


@pytest.fixture
def honest(study: Study) -> Study:
    """The same study with a judge that could be that close without having seen the ratings, and that agrees less
    closely than a rater, without intervals."""
    unknown = {"ceiling": None, "reason": "why", "one_rater_ends": None, "metric_ends": None, "difference_ends": None}
    study.result["ceilings"][1]["rho"] |= unknown
    for ceiling in study.result["ceilings"]:
        ceiling["rho"]["one_rater"] = 0.99
    study.save(update_fields=["result"])
    assert not too_good(study.read_result())
    return study


def address(study: Study, name: str = "study-stand-in", *rest: object) -> str:
    return reverse(f"correlations:{name}", args=[study.project.slug, study.pk, *rest])


def address_of_new(study: Study) -> str:
    return reverse("correlations:study-create", args=[study.project.slug])


def test_the_page_answers_names_the_raters_and_says_what_is_next(honest: Study, manager, viewer, as_user) -> None:
    page = as_user(viewer).get(address(honest)).content.decode()

    lead = page.split('report-lead">')[1].split("</p>")[0]
    assert lead.startswith(f"<strong>Yes,</strong> Oracle can stand in for {ALL_KINDS}.")
    assert "Its ratings less the raters’ are " in lead
    assert "Tested against all 3 raters, over 117 different outputs." in page
    assert "It beats 3 of 3 raters" in page
    assert "(winning rate 1.00" in page
    assert "rater-0" in page
    assert "taken as they are" in page
    assert "corrected for 3 raters" in page
    assert "Import another judge’s scores" not in page  # a viewer cannot
    run = reverse("metrics:run-detail", args=[honest.project.slug, ScoreRun.objects.get(metric="external").number])
    of_run = as_user(viewer).get(run).content.decode()
    assert f'href="{address(honest)}">can it stand in for raters?' in of_run
    assert "Use it in another study" not in of_run  # a viewer cannot
    assert f"{address_of_new(honest)}?dataset={honest.dataset_id}" in as_user(manager).get(run).content.decode()
    report = as_user(viewer).get(address(honest, "study-detail")).content.decode()
    assert f"Yes, Oracle can stand in for {ALL_KINDS}." in report
    assert address(honest) in report
    assert "Import another judge’s scores" in as_user(manager).get(address(honest)).content.decode()
    rater = Rater.objects.get(pseudonym="rater-0")
    RaterIdentity.objects.create(rater=rater, project=honest.project, provider="import", external_id="Maria")
    assert "(Maria)</span>" in as_user(manager).get(address(honest)).content.decode()
    assert "Maria" not in as_user(viewer).get(address(honest)).content.decode()


def test_where_one_rating_is_closer_than_the_judge_the_page_says_so_without_p_values(
    honest: Study, viewer, as_user
) -> None:
    honest.result["worth"][1]["same_rating"] |= {
        "closer": 54,
        "farther": 62,
        "lead": -0.07,
        "lead_p": dict.fromkeys(("crowd", "skilled", "experts"), 0.98),
    }
    honest.save(update_fields=["result"])

    page = as_user(viewer).get(address(honest)).content.decode()

    assert f"It is not shown that Oracle can stand in for {ALL_KINDS}." in page
    assert "Oracle is closer to the raters than that on 54 outputs, farther on 62: no lead." in page
    assert "p = 0.98" not in page.split('id="candidates-title"')[0]


def test_the_answer_is_about_the_row_and_the_raters_that_are_chosen(honest: Study, viewer, as_user) -> None:
    page = as_user(viewer).get(address(honest) + "?raters=experts&row=0").content.decode()

    answer = page.split("report-lead")[1].split(".")[0]
    assert "BLEU (order 2" in answer
    assert "with all references" in answer  # another row of BLEU may read others
    assert "The other row of this study can, too: Oracle (for all three kinds)." in page
    assert "0.20 for experts" in page
    assert 'aria-current="true">experts' in page
    assert "ε = 0.20 (in place of experts)" in page  # in the paragraph for a paper
    assert "BLEU" in page.split('id="raters"')[1][:80]
    assert "by straight lines" in page
    for wrong in ("?raters=robots", "?row=2"):
        assert as_user(viewer).get(address(honest) + wrong).status_code == 404


def worth_of(result: StudyResult, row: int, *, rate: float, same: float, lead: float, p: float) -> RowWorth:
    """Return a row's worth with other numbers in place of a rater of a crowd."""
    worth = result.worth[row]
    margin = replace(worth.stand_in.margins["crowd"], winning_rate=rate, passed=rate >= 0.5)
    return replace(
        worth,
        stand_in=replace(worth.stand_in, margins={"crowd": margin}),
        same_rating=replace(worth.same_rating, winning_rates={"crowd": same}, lead=lead, lead_p={"crowd": p}),
    )


def test_where_one_rating_for_all_passes_the_lead_over_it_counts_and_the_judge_comes_first(honest: Study) -> None:
    """A worthless metric fitted to the ratings is nearly that rating, and beats many raters."""
    result = honest.read_result()
    bleu = worth_of(result, 0, rate=1.0, same=1.0, lead=0.0, p=0.9)

    def report(lead: float, p: float, row: int | None = None) -> StandInReport:
        oracle = worth_of(result, 1, rate=0.6, same=0.7, lead=lead, p=p)
        found = stand_in_report(honest.project, replace(result, worth=(bleu, oracle)), "crowd", row)
        assert found is not None
        return found

    below, above, shown = report(0.06, 0.6), report(0.14, 0.2), report(0.2, 0.01)

    assert [each.row.label for each in below.candidates] == ["Oracle", "BLEU"]
    assert below.chosen.row.label == "Oracle"
    answers = [stand_in_answer(each) for each in (below, above, shown, report(0.06, 0.6, row=0))]
    assert [str(each.verdict) for each in answers] == [
        "It is not shown that Oracle can stand in for a rater of a crowd.",
        "It is not shown that Oracle can stand in for a rater of a crowd.",
        "Yes, Oracle can stand in for a rater of a crowd.",
        f"It is not shown that {below.candidates[1].label} can stand in for a rater of a crowd.",
    ]
    assert "its lead over that rating is 0.06, not shown to be more than the margin of 0.10" in answers[0].why
    assert [each.next_step for each in answers] == [IMPORT, RATE, SCORES, IMPORT]  # more ratings help a lead above ε
    assert "What would help: a judge that is closer to the raters" in answers[0].advice
    assert "could be shown" in answers[1].advice


def test_a_judge_is_corrected_for_other_judges_and_not_for_metrics_or_for_the_same_scores_twice(honest: Study) -> None:
    """Holm by hand: of two tests the smaller p is doubled, of one it stays."""
    result = honest.read_result()
    bleu, oracle = (
        worth_of(result, 0, rate=1.0, same=1.0, lead=0.0, p=0.9),
        (worth_of(result, 1, rate=0.6, same=0.7, lead=0.2, p=0.03)),
    )
    other = worth_of(result, 1, rate=0.6, same=0.7, lead=0.1, p=0.4)

    def judged(*worth: RowWorth) -> StandInReport:
        rows = (0, *[1] * (len(worth) - 1))
        parts = {name: tuple(getattr(result, name)[row] for row in rows) for name in ("rows", "levels", "ceilings")}
        found = stand_in_report(honest.project, replace(result, **parts, worth=worth), "crowd", 1)
        assert found is not None
        return found

    alone, twice, beside = judged(bleu, oracle), judged(bleu, oracle, oracle), judged(bleu, oracle, other)

    assert [each.chosen.lead_p for each in (alone, twice, beside)] == pytest.approx([0.03, 0.03, 0.06])
    assert [stand_in_answer(each).verdict.word for each in (alone, twice, beside)] == ["Yes,", "Yes,", ""]
    assert "(p = 0.030)" in stand_in_answer(alone).why
    assert "(p = 0.060, corrected for 2 judges)" in stand_in_answer(beside).why
    assert "for a crowd (0.10; p = 0.060); each p is corrected for 2 judges." in stand_in_answer(beside).basis_in_words
    assert "after Holm over 2 judges" in stand_in_methods(beside, "")


def test_one_rater_is_compared_with_the_judge_in_a_sentence_that_leads_to_the_table(
    honest: Study, viewer, as_user
) -> None:
    study = honest
    study.result["rows"][1]["items"] = 19  # one fewer than the intervals need
    study.save(update_fields=["result"])
    result = study.read_result()
    human = result.ceilings[1].coefficients["spearman"]

    page = as_user(viewer).get(address(study)).content.decode()

    text = (
        f"Output by output, ρ with the other raters is {human.metric:.2f} for Oracle and {human.one_rater:.2f} for a "
        "rater. Means over 3 raters, each left out once. How sure they are cannot be said, since there are fewer than"
    )
    assert text in page
    assert f"as they agree with each other is not known (ρ {human.metric:.2f} against {human.one_rater:.2f})." in page
    known = replace(human, metric_ends=(0.8, 0.9), one_rater_ends=(0.6, 0.7), difference_ends=(0.1, 0.3))
    ceiling = replace(result.ceilings[1], coefficients={**result.ceilings[1].coefficients, "spearman": known})
    report = stand_in_report(study.project, replace(result, ceilings=(result.ceilings[0], ceiling)), "crowd", 1)
    assert report is not None
    sentence = stand_in_answer(report).basis_in_words
    assert f"is {human.metric:.2f} [0.80, 0.90] for Oracle and {human.one_rater:.2f} [0.60, 0.70] for" in sentence
    assert "a difference of 0.10 to 0.30. Means over 3 raters, each left out once; 95% intervals over" in sentence
    drawn = agreement_figure(report.result, "light")
    assert drawn is not None
    assert f"Beside it, a rater with the other raters: {human.one_rater:.3f}." in drawn["description"]
    assert f"{address(study, 'study-detail')}#ceilings" in page
    assert "Seed of the random numbers" in page.split('id="methods"')[1].split("</p>")[0]


def test_whether_a_judge_orders_outputs_is_answered_apart_from_its_points(honest: Study) -> None:
    """A judge that uses the ends of the scale lies farther from a mean than the mean rating, and tells more."""
    result = honest.read_result()
    judge = worth_of(result, 1, rate=1.0, same=1.0, lead=-0.07, p=0.96)
    human = result.ceilings[1].coefficients["spearman"]

    def report(low: float, high: float) -> StandInReport:
        known = replace(
            human,
            metric=0.5,
            one_rater=0.3,
            metric_ends=(0.2, 0.7),
            one_rater_ends=(0.2, 0.4),
            difference_ends=(low, high),
        )
        ceiling = replace(result.ceilings[1], coefficients={**result.ceilings[1].coefficients, "spearman": known})
        changed = replace(result, worth=(result.worth[0], judge), ceilings=(result.ceilings[0], ceiling))
        found = stand_in_report(honest.project, changed, "crowd", 1)
        assert found is not None
        return found

    above, open_, below = (report(*ends) for ends in ((0.02, 0.3), (-0.02, 0.3), (-0.3, -0.1)))

    answer = stand_in_answer(above)
    assert str(answer.verdict) == "It is not shown that Oracle can stand in for a rater of a crowd."
    more = "Its order of outputs agrees with these raters more closely than they agree with each other"
    more += " (ρ 0.50 against 0.30)."
    assert answer.ordering == more
    assert answer.advice.startswith("Use it to choose among outputs, or to order them.")
    assert answer.next_step == SCORES
    assert f"{answer.verdict} {more}" in stand_in_sentence(above.result)
    assert f"{answer.verdict} {more}" in stand_in_paragraph(above.result)
    assert "over single outputs was 0.50 [0.20, 0.70] in a rater’s place" in stand_in_methods(above, "")
    assert stand_in_answer(open_).ordering.startswith(
        "Its order of outputs agrees with these raters about as closely as they"
    )
    assert stand_in_answer(open_).next_step == IMPORT
    assert stand_in_answer(below).ordering.startswith(
        "Its order of outputs agrees with these raters less closely than they"
    )


def test_what_is_not_shown_is_not_claimed(honest: Study) -> None:
    result = honest.read_result()
    oracle = result.worth[1]
    crowd = oracle.stand_in.margins["crowd"]

    def sentence(**changes: object) -> str:
        return stand_in_sentence(
            replace(
                result,
                rows=result.rows[1:],
                levels=result.levels[1:],
                ceilings=result.ceilings[1:],
                worth=(replace(oracle, **changes),),
            )
        )

    open_question = replace(crowd, winning_rate=0.0, passed=False, beaten=0, p=(0.2,) * 3, p_corrected=(1.0,) * 3)
    worse = replace(open_question, p=(0.999,) * 3)
    for margin, claimed in (
        (worse, "No, Oracle cannot stand in for a rater of a crowd."),
        (open_question, "It is not shown that Oracle can stand in for a rater of a crowd."),
    ):
        text = sentence(stand_in=replace(oracle.stand_in, margins={"crowd": margin}))
        assert text.startswith(claimed)
        assert "It beats 0 of 3 raters; " in text
    assert sentence(stand_in=replace(oracle.stand_in, margins={}, reason="why")) == "Not tested: why."
    passing = replace(oracle.same_rating, winning_rates={"crowd": 0.5})
    assert "Oracle can" in sentence(same_rating=replace(passing, lead_p={"crowd": 0.01}))
    for p in (0.2, None):
        same = replace(passing, lead_p={"crowd": p})
        assert "one and the same rating for every output (the mean, 3.15) passes" in sentence(same_rating=same)


def test_the_first_sentence_answers_for_every_kind_and_the_second_whether_systems_may_be_compared(
    honest: Study, viewer, as_user
) -> None:
    """A lead of 0.18 may be shown to be more than the margin for a crowd, and not to be more than larger ones."""
    worth = honest.result["worth"][1]
    worth["same_rating"] |= {"lead": 0.18, "lead_p": {"crowd": 0.012, "skilled": 0.192, "experts": 0.631}}
    for place, point in enumerate(honest.result["levels"][1]["system"]["systems"]):
        point |= {"rating": 3.0 - 0.1 * place, "score": 3.0 - 0.1 * place + (-0.01, 0.3, 0.62)[place]}
    worth["stand_in"]["same_offset_p"] = 0.004
    honest.save(update_fields=["result"])
    some = "Oracle can stand in for a rater of a crowd; for a skilled rater or an expert that is not shown."
    orders = (
        "Whether its order of outputs agrees with the raters as closely as they agree with each other is not known "
    )
    orders += "(ρ 0.94 against 0.99)."
    apart = "−0.01 for Echo to +0.62 for Quill. That one of them lies so far from the others is more than chance "
    apart += "(p = 0.004, for other items and these raters). "
    off = f"{apart}Rely on raters for differences between systems: the judge’s are off by up to 0.63 points on these "
    client = as_user(viewer)

    def page(query: str) -> str:
        return " ".join(client.get(address(honest) + query).content.decode().split())

    assert f'report-lead">{some} {orders} Its ratings less the raters’ are {off}' in page("")
    leads = (
        "By its means Quill leads (3.42 for Quill, 2.99 for Echo), by the raters’ Echo (3.00 for Echo, 2.80 for Quill)."
    )
    assert leads in page("")
    assert f'report-lead"><strong>Yes,</strong> {some} {orders}' in page("?raters=crowd")
    first = "It is not shown that Oracle can stand in for a skilled rater or an expert; for a rater of a crowd it can."
    for kind in ("skilled", "experts"):
        assert f'report-lead">{first} {orders} Its ratings' in page(f"?raters={kind}")
    assert (
        "for a crowd (0.10; p = 0.012), not for skilled raters (0.15; p = 0.192) or experts (0.20; p = 0.631)."
        in stand_in_paragraph(honest.read_result())
    )
    (finding,) = stand_in_findings(honest.project, 2)
    rely = "Rely on raters for differences between systems: its means less theirs are −0.01 (Echo) to +0.62"
    short = f"{some} {orders} {rely}"
    assert finding.text.startswith(short)
    assert finding.sure == (
        "It beats 3 of 3 raters; one and the same rating for every output (the mean, 3.15) does not pass the test "
        "(lead over it 0.18). ρ with the other raters, output by output: its own 0.94, a rater’s 0.99. Tested against "
        "all 3 raters, over 117 different outputs"
    )
    assert finding.stays
    assert f"{finding.text} {finding.sure}" in stand_in_sentence(honest.read_result())


def test_few_of_many_raters_or_raters_who_agree_with_none_allow_no_answer(honest: Study) -> None:
    """Three raters are what the authors of the test recommend (Calderon, Reichart and Dror, 2025, FAQ)."""
    result = honest.read_result()
    oracle = result.worth[1]
    raters = oracle.stand_in.raters

    def answers(**changes: object) -> tuple[str, str, str, str]:
        stand_in = replace(oracle.stand_in, **changes)
        changed = replace(result, worth=(result.worth[0], replace(oracle, stand_in=stand_in)))
        report = stand_in_report(honest.project, changed, "crowd", None)
        finding = stand_in_finding(changed)
        assert report is not None
        assert finding is not None
        answer = stand_in_answer(report)
        return (
            str(answer.verdict),
            f"{answer.why} {answer.basis_in_words}",
            finding[0],
            stand_in_methods(report, "Seed 1."),
        )

    many = tuple(LeftOutRater(10 + place, 20) for place in range(20))
    verdict, why, finding, methods = answers(left_out=many)
    few = "only 3 of 23 raters rated enough outputs to be tested (30 each), and gave 351 of 751 ratings"
    assert verdict == f"Undecided for Oracle: {few}."
    assert finding.startswith(f"{verdict} ")
    assert "but these raters do not speak for all" in why
    assert "of 23 raters 3 were tested, with 351 of 751 ratings; 3 of them agree" in methods
    stranger = replace(raters[0], agreement=-0.08, agreement_p=0.9)
    verdict, why, _, methods = answers(raters=(stranger, *raters[1:]))
    assert verdict.endswith("only 2 of 3 tested raters are shown to agree with the other raters at all.")
    assert "1 of the raters is not shown to agree with the others" in why
    assert "2 of them agree with the others" in methods
    earlier = tuple(replace(rater, agreement=None, agreement_p=None) for rater in raters)
    assert answers(raters=earlier)[0].startswith("Yes, Oracle can")


def test_tables_and_endpoint_have_the_same_numbers(study: Study, viewer, as_user) -> None:
    client = as_user(viewer)
    oracle = study.read_result().worth[1].stand_in

    def rows(table: str) -> list[dict[str, str]]:
        response = client.get(address(study, "study-download", table, "csv"))
        return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))

    (tested,) = (row for row in rows("stand-ins") if (row["metric"], row["in_place_of"]) == ("Oracle", "experts"))
    assert (tested["passed"], float(tested["advantage"])) == ("True", oracle.advantage)
    raters = [row for row in rows("stand-in-raters") if (row["metric"], row["in_place_of"]) == ("Oracle", "experts")]
    assert [float(row["p"]) for row in raters] == list(oracle.margins["experts"].p)
    assert {row["system"] for row in rows("helped-means")} == {"Echo", "Parrot", "Quill"}
    answer = client.get(f"/api/v1/projects/{study.project.slug}/studies/{study.pk}/worth/").json()[1]
    assert answer["stand_in"]["margins"]["crowd"]["winning_rate"] == 1.0
    assert answer["ranking"]["soft"] == pytest.approx(1.0)


QUESTIONS_OF_A_STUDY = ("study-stand-in", "study-levels", "study-significance", "study-sensitivity")


def test_a_study_whose_ratings_changed_says_so_and_only_the_newest_of_a_question_leads(
    study: Study, manager, as_user
) -> None:
    campaign, rater = study.campaigns.get(), Rater.objects.filter(project=study.project).first()
    assert changes_since(study) == ""
    Participation.objects.create(campaign=campaign, rater=rater, order_seed=1, excluded_at=timezone.now())

    assert changes_since(study) == "Since this study began, 1 rater was excluded."
    page = as_user(manager).get(address(study, "study-detail")).content.decode()
    changed = "<strong>Out of date.</strong> Since this study began, 1 rater was excluded. These numbers are of the"
    others = [as_user(manager).get(address(study, name)).content.decode() for name in QUESTIONS_OF_A_STUDY]
    for shown in (page, *others):
        assert changed in shown
        assert f"like={study.pk}" in shown
    (old,) = stand_in_findings(study.project, 2)
    assert old.sure.startswith("Since this study began, 1 rater was excluded.")
    again, created = study_create(project=study.project, name="Cats", specification=study.specification, by=None)
    study_execute(study_id=again.pk)
    assert created
    assert [finding.url for finding in stand_in_findings(study.project, 2)] == [address(again)]
    assert question_of(again) == question_of(study)
    again.specification["metrics"].append({"name": "chrf", "parameters": {}})
    assert extends(again, study)
    assert not extends(study, again)
    assert [[old.pk for old in older] for _, older in _newest_of_each_question([again, study])] == [[study.pk]]


def test_a_report_holds_the_page_s_answer_and_where_a_judge_s_scores_come_from(study: Study) -> None:
    run = ScoreRun.objects.get(metric="external")
    run.report["imported"] = {"note": "Prompt v1"}
    run.save(update_fields=["report"])
    result = study.read_result()

    assert imported_notes(study, result) == [("Oracle", "Prompt v1")]
    paragraph = stand_in_paragraph(result)
    assert paragraph.startswith(f"Not testable: Oracle {SEEN} Its ratings less the raters’ are ")
    assert "It beats 3 of 3 raters. To beat one, it must " in paragraph
    assert "by a margin ε, because it costs less: 0.10 for a crowd, 0.15 for skilled raters and 0.20" in paragraph
    cells = {row[0]: row[2] for row in stand_in_grid(result).rows}
    assert cells["Oracle"] == "not testable: too good"


def test_the_front_page_says_whether_a_judge_can_stand_in(honest: Study) -> None:
    (finding,) = stand_in_findings(honest.project, 2)
    assert finding.text.startswith(f"Yes, Oracle can stand in for {ALL_KINDS}. ")
    assert finding.sure.endswith(". Tested against all 3 raters, over 117 different outputs")
    assert finding.url == address(honest)
    for worth in honest.result["worth"]:
        for margin in worth["stand_in"]["margins"].values():
            margin |= {"passed": False, "beaten": 0, "winning_rate": 0.0, "p": [0.999] * 3, "p_corrected": [1.0] * 3}
    honest.save(update_fields=["result"])
    (finding,) = stand_in_findings(honest.project, 2)
    assert finding.text.startswith("No, Oracle cannot stand in for a rater.")
    result = honest.read_result()
    parts = {name: getattr(result, name)[:1] for name in ("rows", "levels", "ceilings", "worth")}
    without_judge = replace(result, **parts)
    assert stand_in_finding(without_judge) is None
    assert stand_in_sentence(without_judge).startswith("No, BLEU with all references cannot ")


def test_the_same_scores_under_two_names_are_one_finding(honest: Study) -> None:
    content = f"sha256:{'ab' * 32}"
    run = ScoreRun.objects.defer(None).get(metric="external")

    def name(study: Study, number: int, scorer: str) -> None:
        row = study.result["rows"][1]
        row["signature"] = (
            row["signature"].replace("name:Oracle", f"name:{scorer}").replace("content:none", "content:ab")
        )
        row["run"] = number
        (external,) = (each for each in study.specification["metrics"] if each.get("name") == "external")
        external["parameters"] |= {"content": content, "scorer": scorer}
        run.parameters |= {"content": content, "scorer": scorer}
        run.number = number
        run.signature_hash = scorer
        run.save()
        study.save()

    name(honest, run.number, "Oracle")
    twin = Study.objects.get(pk=honest.pk)
    twin.pk, twin.signature, run.pk = None, "0" * 64, None
    name(twin, 100, "Twin")

    assert question_of(twin) == question_of(honest)
    (finding,) = stand_in_findings(honest.project, 5)
    assert finding.stays
    assert finding.text.endswith(" has the same scores.")


def test_a_judge_that_can_is_found_behind_one_whose_scale_is_known(honest: Study) -> None:
    result = honest.read_result()
    row, level, ceiling, worth = (getattr(result, each)[1] for each in ("rows", "levels", "ceilings", "worth"))
    no = {whom: replace(each, passed=False, winning_rate=0.0) for whom, each in worth.stand_in.margins.items()}
    first = replace(worth, stand_in=replace(worth.stand_in, margins=no))
    second = replace(worth, stand_in=replace(worth.stand_in, scale="fitted"))
    both = replace(
        result,
        rows=(replace(row, label="On the scale"), row),
        levels=(level, level),
        ceilings=(ceiling, ceiling),
        worth=(first, second),
    )

    finding = stand_in_finding(both)

    assert finding is not None
    assert finding[0].startswith(f"Yes, Oracle can stand in for {ALL_KINDS}.")


def test_a_judge_that_is_too_good_is_undecided_wherever_it_is_named(study: Study, viewer, as_user) -> None:
    client, result = as_user(viewer), study.read_result()
    other = stand_in_report(study.project, result, "crowd", 0)
    chosen = stand_in_report(study.project, result, "crowd", None)
    assert other is not None
    assert chosen is not None
    of_judge, (card,) = stand_in_answer(chosen), stand_in_findings(study.project, 2)
    worth = client.get(f"/api/v1/projects/{study.project.slug}/studies/{study.pk}/worth/").json()[1]

    assert str(of_judge.verdict) == f"Not testable: Oracle {SEEN}"
    assert "it may compare systems" not in of_judge.systems
    assert of_judge.next_step == SCORES
    assert "whether it can stand in is not testable" in stand_in_methods(chosen, "Seed 1.")
    assert stand_in_sentence(result).startswith(f"Not testable: Oracle {SEEN}")
    assert card.text.startswith(f"Not testable: Oracle {SEEN}")
    assert stand_in_answer(other).others.startswith("Whether Oracle can is not testable")
    assert worth["answers"] == dict.fromkeys(MARGINS, "not testable: too good")


@pytest.mark.parametrize("whom", MARGINS)
@pytest.mark.parametrize(
    ("agreement", "ends", "p"), [(-0.28, (-0.4, -0.1), 0.001), (-0.02, (-0.1, 0.06), 0.001), (0.28, None, 1.0)]
)
def test_no_row_stands_in_that_runs_against_the_raters_or_beats_no_constant(
    honest: Study, whom: str, agreement: float, ends: tuple[float, float] | None, p: float
) -> None:
    """Length: lines turn its scores round, so that it passes where one and the same rating for all just fails."""
    result = honest.read_result()
    length = replace(
        result.worth[0],
        stand_in=replace(
            result.worth[1].stand_in,
            margins={whom: replace(result.worth[1].stand_in.margins[whom], winning_rate=0.6, passed=True)},
        ),
        same_rating=replace(result.worth[0].same_rating, winning_rates={whom: 0.4}, lead=0.01, lead_p={whom: p}),
    )
    human = replace(result.ceilings[0].coefficients["spearman"], metric=agreement, metric_ends=ends)
    ceiling = replace(result.ceilings[0], coefficients={**result.ceilings[0].coefficients, "spearman": human})
    changed = replace(result, worth=(length, result.worth[1]), ceilings=(ceiling, result.ceilings[1]))
    reports = [stand_in_report(honest.project, changed, whom, row) for row in (0, 1)]
    assert reports[0] is not None
    assert reports[1] is not None

    answer = stand_in_answer(reports[0])

    assert str(answer.verdict).startswith("It is not shown that BLEU")
    methods = stand_in_methods(reports[0], "Seed 1.")
    for text in (answer.why, methods.lower(), answers(changed)[0][whom]):
        assert ("high scores go with low ratings" in text) == (agreement < -0.1)
        assert ("it is not shown to agree output by output" in text) == (-0.1 < agreement < 0)
    assert ("is not shown to" in answer.why) == (agreement > -0.1)
    assert ("not shown to be more than the margin" in answer.why) == (p == 1.0)
    assert ("would not change that" in answer.advice) == (agreement < -0.1)
    assert "not shown to be able to" in stand_in_answer(reports[1]).others
    assert ("passing shows no judgement" in methods) or ("not shown to be closer" in methods)
    assert "yes" not in {row[2] for row in stand_in_grid(changed).rows if str(row[0]).startswith("BLEU")}
    assert not answers(changed)[0][whom].startswith("yes")
    alone = {name: getattr(changed, name)[:1] for name in ("rows", "levels", "ceilings", "worth")}
    assert stand_in_sentence(replace(changed, **alone)).startswith("It is not shown that BLEU")
