"""Studies of metrics against raters: the kind, and the page of a row of the table."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.core.charts import Spec, Theme
from annotation.core.numbers import counted
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view
from annotation.models import Dataset, Release, Role
from correlations import tasks
from correlations.forms.studies import StudyForm
from correlations.models import Study
from correlations.results.study import NO_REFERENCES, PairUnits, RowPair, StudyResult, StudyRow
from correlations.selectors import level_tables, reports, sensitivity_tables, significance_tables, tables
from correlations.selectors.ceilings import (
    ceiling_cells,
    ceiling_lines,
    ceiling_sentence,
    too_good_sentence,
)
from correlations.selectors.changes import same_texts
from correlations.selectors.headlines import Headline, criteria_in_words, study_headline
from correlations.selectors.level_answers import FIGURE as LEVELS_FIGURE
from correlations.selectors.level_answers import levels_figure
from correlations.selectors.levels import levels_sentence, systems_figure
from correlations.selectors.methods import study_methods
from correlations.selectors.points import Point, with_text
from correlations.selectors.rated_pairs import Pairs, certain_pairs
from correlations.selectors.sensitivity import sensitivity_figure, sensitivity_sentence
from correlations.selectors.settings_words import settings_note
from correlations.selectors.significance import matrix_figure, significance_sentence
from correlations.selectors.significance_words import ranking_figure
from correlations.selectors.stand_in_charts import AGREEMENT, agreement_figure
from correlations.selectors.stand_in_words import stand_in_finding, stand_in_verdict
from correlations.selectors.worth import ranking_sentence
from correlations.services.studies import study_create
from correlations.stats.ranking import NO_PAIR
from correlations.views.kinds import Context, Kind, StudyPage, finished_study_or_404
from metrics.selectors.copies import RULE
from metrics.selectors.runs import shown_digits
from metrics.templatetags.report import references


def _form(request: MemberRequest, dataset: Dataset, release: Release | None) -> tuple[StudyForm, Context]:
    like = _like(request)
    without = request.GET.getlist("without")
    context: Context = {"like": like, "without": without} if like else {}
    campaign = whole_number(request, "campaign")
    form = StudyForm(
        request.POST or None,
        dataset=dataset,
        release=release,
        campaign=campaign,
        like=like,
        without=without,
        settings=request.GET.get("settings", ""),
    )
    if (run := whole_number(request, "run")) is not None:
        form.tick_only(run)
    return form, context | {"only_run": run}


def _like(request: MemberRequest) -> Study | None:
    """Return the study whose settings the form begins with, if the address names one."""
    pk = whole_number(request, "like")
    return None if pk is None else Study.objects.filter(project=request.project, pk=pk).first()


def _without_copies_url(study: Study, result: StudyResult) -> str:
    """Return where this study starts anew without the systems that copy references; empty if fewer than two stay."""
    copies = reports.copies(result)
    if len(set(study.specification["systems"]) - set(copies)) < 2:
        return ""
    texts = {"release": study.release_id} if study.release_id else {"dataset": study.dataset_id}
    query = [*texts.items(), ("like", study.pk), *(("without", name) for name in copies)]
    return f"{STUDY.url('create', study.project)}?{urlencode(query)}"


def _hypotheses(study: Study) -> str:
    spec = study.specification
    return f"{counted(len(spec['systems']), 'system')}, {counted(len(spec['pairs']), 'pair')}"


def _units(study: Study) -> str:
    spec = study.specification
    # Units of one item are the same in every assignment, so that one is computed.
    assignments = 1 if spec["unit_size"] == 1 else spec["assignments"]
    return f"{counted(spec['unit_size'], 'item')}, {counted(assignments, 'assignment')}"


def _report(study: Study, result: StudyResult) -> Context:
    order, ceilings = reports.rows_in_order(result), ceiling_lines(result)
    return {
        "result": result,
        "has_report_files": True,
        "rows": [(result.rows[index], index, ceiling_cells(result, index)) for index in order],
        "cards": reports.summary_cards(study, result),
        "methods": study_methods(study, result),
        "headline": (headline := study_headline(study, result)),
        "best": headline and headline.best,
        "points": [] if headline is None else _points(study, result, headline),
        "few_units": reports.few_units(result),
        "circular": reports.circularity_to_show(result),
        "copies": reports.copies(result),
        "copied_shares": reports.copied_in_words(result),
        "circular_rule": RULE,
        "again_url": f"{STUDY.url('create', study.project)}?{urlencode(same_texts(study))}",
        "without_copies_url": _without_copies_url(study, result),
        "ceilings": [ceilings[index] for index in order],
        "ceiling_rows": len(order) * len(result.entries),
        "rankings": [(result.rows[index], result.worth[index].ranking) for index in order],
        "ties_matter": any(
            worth.ranking.epsilon or worth.ranking.calibrated != worth.ranking.pairwise for worth in result.worth
        ),
        "ranking_sentence": ranking_sentence(result),
        "no_pair": NO_PAIR,
        "too_good": too_good_sentence(result),
        "ceiling_sentence": ceiling_sentence(result),
        "comparisons": reports.comparisons_worth_showing(result),
        "n_different": reports.n_significant(result),
        "any_negated": any(row.negated for row in result.rows),
        "any_without_references": any(reports.row_references(row) == NO_REFERENCES for row in result.rows),
        "any_imported": any(reports.is_imported(row) and not reports.is_predicted(row) for row in result.rows),
        "many_metrics": len(study.specification["metrics"]) > reports.IN_COLOUR,
        "clamped": reports.clamped_rows(result),
        "clamped_sentences": reports.clamped_sentences(result),
        "units": reports.units_of(study),
        "settings_note": settings_note(result, study.specification),
        "forest_caption": reports.forest_caption(result),
        "forest_all_caption": reports.forest_caption(result, with_paper=True),
        "sweeps_title": reports.sweeps_title(result),
        "sweeps": reports.sweeps_to_draw(result),
        "questions": _questions(study, result),
    }


def _points(study: Study, result: StudyResult, headline: Headline) -> list[Point]:
    """Return what stands below the headline, point by point: a page's first sentence says one thing."""
    judge, _ = stand_in_finding(result) or ("", "")
    more = STUDY.url("stand-in", study.project, study.pk)
    return with_text(
        Point("What raters judged", criteria_in_words(study)),
        Point("In place of a rater", judge, more, "What that rests on"),
        Point("Other metrics", headline.other_metrics),
        Point("Imported scores", headline.apart),
        Point("One system", headline.carried),
        Point("Trained models", headline.models),
        *headline.points,
    )


# Pages of a study, each with the question that it answers and the answer in a sentence.
QUESTIONS: Mapping[str, tuple[str, Callable[[StudyResult], str]]] = {
    "significance": ("Which metrics can be told apart?", significance_sentence),
    "levels": ("How is it by system, and by output?", levels_sentence),
    "stand-in": ("Can a judge stand in for raters here?", stand_in_verdict),
    "sensitivity": ("How many raters did we need?", sensitivity_sentence),
}
ELSEWHERE = "Set this study beside those of other data sets, or with other settings."


def _questions(study: Study, result: StudyResult) -> list[dict[str, str]]:
    questions = [
        {"url": STUDY.url(page, study.project, study.pk), "title": title, "answer": answer(result)}
        for page, (title, answer) in QUESTIONS.items()
    ]
    compare = f"{STUDY.url('compare', study.project)}?study={study.pk}"
    return [*questions, {"url": compare, "title": "Does it hold elsewhere?", "answer": ELSEWHERE}]


TABLES = (tables.table, level_tables.table, significance_tables.table, sensitivity_tables.table)


def _table(result: StudyResult, name: str) -> tables.Table | None:
    found = (builder(result, name) for builder in TABLES)
    return next((table for table in found if table is not None), None)


def _figure(result: StudyResult, name: str, *, theme: Theme) -> Spec | None:
    rows = {f"systems-{index}": index for index in range(len(result.rows))}
    if name in rows:
        return systems_figure(result, rows[name], theme)
    if name == AGREEMENT:
        return agreement_figure(result, theme)
    if name == LEVELS_FIGURE:
        return levels_figure(result, theme)
    found = (
        matrix_figure(result, name, theme)
        or ranking_figure(result, name, theme)
        or sensitivity_figure(result, name, theme)
    )
    return found or reports.figure(result, name, theme=theme)


STUDY = Kind(
    model=Study,
    title="Studies",
    question="How far can each metric be trusted? Metrics against the judgements you collected.",
    empty="A study correlates metrics with ratings of the same outputs. It needs a campaign that rated them, or "
    "imported ratings.",
    purpose="Which metric agrees with your raters? The same specification is never computed twice.",
    eyebrow=lambda _: "Study",
    columns={name: itemgetter(name) for name in ("systems", "campaigns", "unit_size", "assignments")},
    cells={"Release": lambda study: str(study.release or "none"), "Compared": _hypotheses, "Units": _units},
    create=study_create,
    task=tasks.execute,
    form=_form,
    read=Study.read_result,
    report=_report,
    table=_table,
    figure=_figure,
)


@require_GET
@object_view(finished_study_or_404, Role.VIEWER)
def study_row(request: MemberRequest, page: StudyPage[Study, StudyResult], row: int) -> HttpResponse:
    study, result = page.study, page.result
    if row >= len(result.rows):
        raise Http404(f"No row {row}; there are {len(result.rows)}.")
    shown = result.rows[row]
    pks = dict(study.dataset.systems.values_list("name", "pk"))
    systems = sorted(shown.systems, key=lambda entry: -(entry.rating or 0))
    read, certain = references(reports.row_references(shown)), certain_pairs(study)
    title = f"{shown.label}, {read}"
    context = {
        "project": request.project,
        "study": study,
        "trail": [
            (STUDY.title, STUDY.url("list", request.project)),
            (study.name, STUDY.url("detail", request.project, study.pk)),
        ],
        "result": result,
        "row": shown,
        "here": title,
        "title": f"{shown.label} · {read}",
        "estimates": reports.estimates(result, shown),
        "systems": [(entry, pks[entry.system]) for entry in systems],
        "digits": shown_digits(max((abs(entry.score or 0.0) for entry in systems), default=0.0)),
        "pairs": [
            (pair, each, _agree(each, negated=shown.negated, nearly=_nearly(shown), certain=_is_certain(pair, certain)))
            for pair, each in zip(result.pairs, shown.pairs, strict=True)
        ],
        "figure_name": f"row-{row}",
        "has_figure": reports.figure(result, f"row-{row}", theme="light") is not None,
        **_beside(row, reports.rows_in_order(result)),
    }
    return render(request, "correlations/study_row.html", context)


def _beside(row: int, order: Sequence[int]) -> Context:
    """Return the rows before and after this one in the study's table."""
    place = order.index(row)
    after = order[place + 1 :]
    return {"previous": order[place - 1] if place else None, "next": after[0] if after else None}


def _is_certain(pair: PairUnits, certain: Pairs | None) -> bool:
    """Return whether the raters' difference is certain; yes where no results say that it is not."""
    return certain is None or frozenset((pair.a, pair.b)) in certain


def _agree(pair: RowPair, *, negated: bool, nearly: float, certain: bool = True) -> str:
    """Return whether the metric prefers the system of a pair that the raters prefer.

    Raters whose difference is not ``certain`` are not shown to prefer one; those who tell two systems apart by less
    than ``nearly`` prefer none.
    """
    if pair.score is None or pair.rating is None:
        return "–"
    if 0 in (pair.score, pair.rating):
        return "tied"
    if not certain:
        return "not certain"
    if (pair.score * pair.rating < 0) == negated:
        return "agree"
    return "raters nearly tied" if abs(pair.rating) < nearly else "disagree"


def _nearly(row: StudyRow) -> float:
    """Return a tenth of the span of the systems' mean ratings: differences below it decide little."""
    ratings = [entry.rating for entry in row.systems if entry.rating is not None]
    return 0.1 * (max(ratings) - min(ratings)) if ratings else 0.0
