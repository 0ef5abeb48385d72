"""Studies on a project's front page."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from annotation.core.numbers import decimals, in_brackets
from annotation.models import Campaign, Job, JobState, Project
from annotation.overview.registry import Finding, JobKind, NextStep, Source, register
from annotation.projects.contents import Content
from annotation.projects.contents import register as register_contents
from correlations.models import ParameterStudy, Study, StudyVerification
from correlations.results.study import StudyResult
from correlations.selectors import compared_words
from correlations.selectors.changes import changes_since, extends, question_of
from correlations.selectors.headlines import Headline, study_headline
from correlations.selectors.joint import joint_comparison
from correlations.selectors.levels import too_few_systems
from correlations.selectors.metrics import tokens_of_row
from correlations.selectors.parameter_reports import SweepReport
from correlations.selectors.reports import best_row, few_units
from correlations.selectors.stand_in_words import stand_in_finding, stand_in_judge
from correlations.selectors.tuned import MARK
from metrics.selectors.same_scores import content_of_run, same_scores_note

STUDIES_READ = 5  # the newest ones, to tell whether any allows a conclusion
JOINT_READ = 2  # over several data sets, each of which is a study to read


def study_findings(project: Project, most: int) -> Iterator[Finding]:
    """Yield the headline of each study that has one."""
    done = (
        project.studies.filter(state=JobState.DONE)
        .order_by("-finished_at")
        .only("name", "result", "finished_at", "specification", "project")
    )
    for study, extended in _newest_of_each_question(done[:most]):
        result = study.read_result()
        if headline := study_headline(study, result):
            url = reverse("correlations:study-detail", args=[project.slug, study.pk])
            at: Any = study.finished_at  # finished ones have a time
            same = same_scores_note(project, headline.best.row.run)
            text = " ".join(filter(None, [headline.sentence, headline.tuned, headline.trivial, headline.outputs, same]))
            tokens = tokens_of_row(study, headline.best.row)
            sure = _with_changes(study, _sure(result, headline, tokens))
            also = tuple(
                Source(each.name, reverse("correlations:study-detail", args=[project.slug, each.pk]))
                for each in extended
            )
            yield Finding("Study", at, text, sure, url, about=study.name, also=also)


def joint_findings(project: Project, most: int) -> Iterator[Finding]:
    """Yield what the newest studies over several data sets say together, of those whose studies are all done."""
    for joint in project.joint_studies.order_by("-pk")[: min(most, JOINT_READ)]:
        compared = joint_comparison(joint)
        if compared is None or not (pooled := compared_words.pooled_sentence(compared)):
            continue
        at: Any = max(study.finished_at for study in compared.studies if study.finished_at)
        url = reverse("correlations:study-joint-detail", args=[project.slug, joint.pk])
        sure = compared_words.rank_note(compared) or "No metric is compared with another"
        text = f"{compared_words.lead_sentences(compared)} {pooled}" if compared.ranked else pooled
        yield Finding("Study", at, text, sure.removesuffix("."), url, about=joint.name)


def _newest_of_each_question(studies: Iterable[Study]) -> list[tuple[Study, list[Study]]]:
    """Return studies, newest first, each with older ones that it extends by metrics.

    Of those that ask the same of the same data the newest alone is there.
    """
    newest: dict[str, tuple[Study, list[Study]]] = {}
    for study in studies:
        if (question := question_of(study)) in newest:
            continue
        extending = next((entry for entry in newest.values() if extends(entry[0], study)), None)
        if extending is None:
            newest[question] = study, []
        else:
            extending[1].append(study)
    return list(newest.values())


def _with_changes(study: Study, sure: str) -> str:
    changes = changes_since(study)
    return f"{changes} {sure}" if changes else sure


def stand_in_findings(project: Project, most: int) -> Iterator[Finding]:
    """Yield whether a judge can stand in for a rater, of each study that tested one."""
    done = project.studies.filter(state=JobState.DONE).order_by("-finished_at")
    seen = set()
    for study in done.only("name", "result", "finished_at", "specification", "project")[:most]:
        result = study.read_result()
        if finding := stand_in_finding(result):
            judge = stand_in_judge(result)
            row = judge.any_candidate.row
            scores = content_of_run(project, row.run) or row.signature
            question = scores, *study.specification["campaigns"]
            if question in seen:
                continue  # the same scores against the same raters, whatever else the study compared
            seen.add(question)
            url = reverse("correlations:study-stand-in", args=[project.slug, study.pk])
            at: Any = study.finished_at  # finished ones have a time
            text, sure = finding
            text = " ".join(filter(None, [text, same_scores_note(project, row.run)]))
            yield Finding("Judge", at, text, _with_changes(study, sure), url, stays=bool(judge.able), about=study.name)


def _sure(result: StudyResult, headline: Headline, tokens: str) -> str:
    """Return what the headline cannot tell apart, or that it can, and its warnings; ``tokens`` is of its tokeniser."""
    certain = (
        f"{headline.metric} differs significantly from each of the others."
        if result.comparisons
        else f"{headline.metric} was compared with no other metric."
    )
    warnings = filter(None, [headline.carried, headline.copies, tokens])
    return " ".join([*(headline.doubts or [certain]), *warnings]).removesuffix(".")


def study_setback(project: Project) -> NextStep | None:
    """Return what to do if no study allows a conclusion."""
    done = project.studies.filter(state=JobState.DONE).order_by("-finished_at").only("name", "result", "finished_at")
    studies = [(study, study.read_result()) for study in done[:STUDIES_READ]]
    if not studies or any(best_row(result) for _, result in studies):
        return None
    study, result = studies[0]
    why = few_units(result) or "no metric's correlation with the raters is defined"
    text = (
        f"The study “{study.name}” allows no conclusion: {why}. "
        "Rate more items or systems, or start a study with smaller units."
    )
    return NextStep(text, "Open the study", reverse("correlations:study-detail", args=[project.slug, study.pk]))


def parameter_findings(project: Project, most: int) -> Iterator[Finding]:
    """Yield where the first parameter of each parameter study is best."""
    done = project.parameter_studies.filter(state=JobState.DONE).order_by("-finished_at")
    for study in done.only("name", "result", "finished_at", "specification")[:most]:
        if too_few_systems(len(study.specification["systems"])):
            continue  # its coefficients are over systems
        result = study.read_result()
        report = SweepReport(result.sweeps[0], result)
        if report.best_value is None or report.sweep.best_point is None:
            continue
        best, in_use = report.sweep.best_point.shown, report.sweep.in_use.shown
        own = "undefined" if report.own_value is None else decimals(report.own_value, 3)
        ends = in_brackets(report.sweep.best_point.system.coefficients[result.coefficient].interval)
        resampled = " (in brackets: the middle 95% of resamples of items)" if ends else ""
        yield Finding(
            "Parameter study",
            study.finished_at,  # type: ignore[arg-type] # finished ones have a time
            f"“{study.name}”: {report.sweep.label} is best at {best}, with {result.deciding.label} "
            f"{decimals(report.best_value, 3)}{ends} over systems{resampled}. The value in use, {in_use}, has {own}.",
            _chosen(report),
            reverse("correlations:parameter-study-detail", args=[project.slug, study.pk]),
        )


def _chosen(report: SweepReport) -> str:
    """Return what the best value is worth on items that it was not chosen on, or that this is not known."""
    cross = report.sweep.cross
    if report.sweep.best == report.sweep.chosen:
        return "The value in use was chosen beforehand"
    if cross is None:
        return f"The best value is {MARK}"
    low, high = (decimals(end, 3, plus=True) for end in cross.gain_range)
    gain = f"chosen by cross-validation it gains {decimals(cross.gain, 3, plus=True)} on others"
    return f"The best value is {MARK}; {gain}, {low} to {high} over folds"


def campaign_uses(campaign: Campaign) -> Iterator[QuerySet[Any]]:
    """Yield the studies that read a campaign's ratings."""
    yield Study.objects.filter(campaigns=campaign)
    yield ParameterStudy.objects.filter(campaigns=campaign)


register_contents(
    contents=[
        Content(Study, "study", "studies", named=True),
        Content(ParameterStudy, "parameter study", "parameter studies", named=True),
    ],
    uses=[campaign_uses],
)


def _job(model: type[Job], label: str, name: str) -> JobKind:
    return JobKind(model, label, "name", f"{name}-detail", retry=f"{name}-retry")


register(
    findings=[study_findings, joint_findings, stand_in_findings, parameter_findings],
    setbacks=[study_setback],
    jobs=[
        _job(Study, "Study “{name}”", "correlations:study"),
        _job(ParameterStudy, "Parameter study “{name}”", "correlations:parameter-study"),
        _job(StudyVerification, "Verification of “{name}”", "correlations:study-verification"),
    ],
)
