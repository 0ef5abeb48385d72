"""What every registered kind of scale must do."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.fields.table import CriterionDraft
from annotation.campaigns.forms.criteria import CriterionForm
from annotation.campaigns.presentations import PRESENTATIONS
from annotation.campaigns.scales import SCALES
from annotation.campaigns.services.copies import campaign_import
from annotation.campaigns.services.documents import campaign_export
from annotation.campaigns.services.drafts import draft_of
from annotation.dry_runs.simulation.raters import SimulatedRater
from annotation.dry_runs.simulation.screens import ShownText
from annotation.models import Campaign, Criterion, Project, Rating, User
from annotation.rating.selectors.ratings import judgement_table
from annotation.rating.selectors.screens import screen
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services.methods import methods_text
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset

every_kind = pytest.mark.parametrize("kind", SCALES)


def draft(kind: str) -> CriterionDraft:
    return CriterionDraft(
        "quality", "How good?", kind=kind, scale_max=2, standard_source="human", standard_value=100
    ).stored()


def launched(project: Project, kind: str, **options: object) -> Campaign:
    presentation = next(key for key in PRESENTATIONS if SCALES[kind].fits(key))
    dataset = make_dataset(project, items=2)
    return make_campaign(dataset, criteria=[draft(kind)], presentation=presentation, ratings_per_unit=1, **options)


@every_kind
def test_its_settings_are_valid_and_unchanged_by_storing(kind: str) -> None:
    criterion = draft(kind)
    assert list(criterion.scale.problems()) == []
    assert criterion.stored() == criterion
    assert replace(criterion, **asdict(criterion)).scale.group == criterion.scale.group
    assert any(criterion.scale.fits(key) for key in PRESENTATIONS)
    assert criterion.scale.misfit or all(criterion.scale.fits(key) for key in PRESENTATIONS)


@every_kind
def test_it_has_every_text(kind: str) -> None:
    scale = draft(kind).scale
    texts = [scale.label, scale.choice, scale.summary, scale.sentence, *scale.sizes, scale.accepted, scale.message("")]
    assert all(texts)
    assert bool(scale.heading) == scale.whole
    assert len(scale.keys) == len(scale.points)


@every_kind
def test_its_high_range_is_valid_and_other_values_are_refused(kind: str) -> None:
    scale = draft(kind).scale
    low, high = scale.ends
    assert np.isnan([low, high]).all() or low < high
    assert scale.point > 0
    high_range = scale.high_range(None)
    assert high_range[0] <= high_range[1]
    assert scale.expected_problem(*high_range) == ""
    assert scale.value("nothing") is None
    assert scale.value(True) is None
    assert "accepted" in scale.refusal("")


@every_kind
def test_its_form_reads_the_values_it_shows(project: Project, kind: str) -> None:
    campaign = launched(project, kind, launch=False)
    criterion = campaign.criteria.get()
    shown = CriterionForm(campaign, initial=CriterionForm.initial_of(criterion))
    form = CriterionForm(
        campaign, {name: "" if (value := shown[name].value()) is None else value for name in shown.fields}
    )
    assert form.is_valid(), form.errors
    assert form.draft().stored() == draft(kind)


@every_kind
def test_its_design_is_exported_and_imported(project: Project, manager: User, kind: str) -> None:
    campaign = launched(project, kind)
    document = campaign_export(campaign)
    copy = campaign_import(project=project, dataset=campaign.dataset, document=document, by=manager)
    assert [criterion.stored() for criterion in draft_of(copy).criteria] == [draft(kind)]


@every_kind
@pytest.mark.parametrize("spam", [None, "random", "constant"])
def test_simulated_answers_are_valid_and_shown_again(project: Project, kind: str, spam: str | None) -> None:
    campaign = launched(project, kind)
    rater, simulated = join(campaign), SimulatedRater(seed=3, spam=spam)
    scale = campaign.criteria.get().scale
    stored = []
    while presentation := unit_request(campaign=campaign, rater=rater):
        texts = [ShownText((number + 1) / 5) for number in range(len(presentation.order))]
        answers = scale.simulate(simulated, texts)
        assert sorted(answers) == list(range(scale.n_fields(len(texts))))
        values = {(number, "quality"): f"{value:.10g}" for number, value in answers.items()}
        ratings_submit(token=presentation.token, rater=rater, values=values)
        presentation.refresh_from_db()
        fields = [field for question in screen(presentation).questions for field in question.fields]
        assert {field.name: field.text for field in fields} == {
            f"r{n}-quality": text for (n, _), text in values.items()
        }
        stored += list(Rating.objects.filter(presentation=presentation).values_list("value", flat=True))
    assert stored
    assert all(scale.accepts(value) for value in stored)
    table = judgement_table([campaign])
    assert np.isnan(table.low) or ((table.low <= table.value) & (table.value <= table.high)).all()
    assert sum(n for _, n in scale.histogram(np.array(stored))) == len(stored)
    assert scale.sentence in methods_text(campaign_facts(campaign))


@every_kind
def test_its_question_is_shown_and_a_missing_answer_is_refused(project: Project, client: Client, kind: str) -> None:
    campaign = launched(project, kind)
    scale: Criterion = campaign.criteria.get()
    client.post(reverse("annotation:rater-consent", args=[campaign.link_token]), {"agree": "1"})
    address = reverse("annotation:rater-work", args=[campaign.link_token])
    page = client.get(address)
    shown = page.context["presentation"]
    names = {field.field for question in page.context["screen"].questions for field in question.fields}
    assert len(names) == scale.scale.n_fields(len(shown.order))
    assert all(f'name="{name}"' in page.text for name in names)
    refused = client.post(reverse("annotation:rater-submit", args=[campaign.link_token]), {"token": str(shown.token)})
    assert refused.status_code == 400
    assert scale.scale.message("") in refused.text
