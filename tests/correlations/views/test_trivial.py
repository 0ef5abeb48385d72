"""When a baseline that judges nothing agrees with the raters as well as a metric does, the study says so."""

from dataclasses import replace

import pytest
from django.urls import reverse

from correlations.models import Study
from correlations.overview import study_findings
from correlations.results.study import Comparison, StudyRow
from correlations.selectors.trivial import trivial_sentence
from metrics.scoring.length import Length
from tests.correlations.views.conftest import lead_sentences

pytestmark = pytest.mark.django_db


def test_the_lead_names_the_metrics_that_length_does_no_worse_than(study: Study) -> None:
    result = study.read_result()
    first, lead = result.rows[0], result.lead.key

    def row(label: str, value: float | None, **changes: object) -> StudyRow:
        estimates = first.coefficients | {lead: replace(first.coefficients[lead], value=value)}
        return replace(first, label=label, few_units="", coefficients=estimates, **changes)

    def said(*rows: StudyRow, comparisons: tuple[Comparison, ...] = ()) -> str:
        return trivial_sentence(replace(result, rows=rows, comparisons=comparisons))

    length = row("Length", 0.41, metric=Length.name)
    bleu, chrf = row("BLEU", 0.39), row("chrF", 0.6)
    assert said(length, bleu, chrf) == "Length alone does no worse than BLEU (ρ 0.41 against 0.39)."
    better = row("BLEU", 0.5, subset_label="another choice")
    assert said(length, bleu, better, chrf) == "", "BLEU counts by its best references"
    assert said(bleu, chrf) == ""
    assert said(row("Length", -0.1, metric=Length.name), row("BLEU", -0.2)) == "", "it does not agree itself"
    assert said(row("Length", None, metric=Length.name), bleu) == ""
    several = said(length, *(row(label, 0.1) for label in "ABCD"))
    assert several == "Length alone does no worse than A (ρ 0.41 against 0.10), B (0.41 against 0.10) and 2 more."

    entry = result.comparisons[0]  # of both on the items that both can use, there the other way round
    sides = {"first": "BLEU", "second": "Length", "first_references": bleu.subset_label}
    values = {"first_value": {lead: 0.45}, "second_value": {lead: 0.43}}
    entry = replace(entry, **sides, second_references=length.subset_label, **values)
    assert said(length, bleu, comparisons=(entry,)) == ""
    entry = replace(entry, first_value={lead: 0.42})
    assert said(length, bleu, comparisons=(entry,)).endswith("against 0.42 on the items that both can use).")


def test_the_page_the_report_and_the_front_page_have_it(study: Study, viewer, as_user) -> None:
    result = study.read_result()
    lead = result.lead.key
    rows = [replace(row, few_units="") for row in result.rows]
    estimates = rows[-1].coefficients | {lead: replace(rows[-1].coefficients[lead], value=0.99)}
    rows[-1] = replace(rows[-1], label="Length", metric=Length.name, coefficients=estimates)
    changed = replace(result, rows=tuple(rows), comparisons=())
    study.result = changed.to_json()
    study.save()
    sentence = trivial_sentence(changed)
    assert sentence.startswith("Length alone does no worse than ")
    assert sentence in lead_sentences(study, changed)
    assert sentence in next(study_findings(study.project, 1)).text
    page = as_user(viewer).get(reverse("correlations:study-detail", args=[study.project.slug, study.pk]))
    assert sentence in page.content.decode()
