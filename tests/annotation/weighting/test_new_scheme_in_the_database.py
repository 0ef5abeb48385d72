"""A weighting scheme is its entry in the registry: forms, releases, documents and pages know it from there."""

from functools import partial

import numpy as np
import pytest
from django.urls import reverse

from annotation.models import Project, Release
from annotation.references.releases.files.card import data_card
from annotation.references.releases.services.releases import release_build, stored_content_hash
from annotation.references.weighing.selectors.influence import influences
from annotation.references.weighing.selectors.sensitivity import comparisons
from annotation.weighting.aggregation import Contributions, weigh
from annotation.weighting.result import WeightResult
from annotation.weighting.scheme import Scheme, SchemeParameter, WeighedResponse
from annotation.weighting.schemes import SCHEMES
from annotation.weighting.table import RatingTable, as_table
from tests.annotation.worlds.weighed import make_release, texts_of

SHARE = SchemeParameter("share", 0.5, "Share of the scale's half")


def contributions(table: RatingTable, low: float, high: float, *, share: float = SHARE.default) -> Contributions:
    """Each rating as the linear scheme has it, drawn to 0."""
    return Contributions(table, share * (2 * table.value - (low + high)), np.ones(len(table)), high - low)


def weights(ratings, low, high, *, share=SHARE.default) -> WeightResult:
    table = as_table(ratings)
    parts = contributions(table, low, high, share=share)
    return weigh(table, parts, "mean", signature=f"weights:toy|share:{share:g}")


def explain(response: WeighedResponse) -> list[str]:
    return [f"{len(response.values)} toy judgements times {response.parameters['share']:g}"]


TOY = Scheme(
    key="toy",
    label="Toy scheme",
    about="half of everything",
    method="A response's weight is drawn to 0",
    formula="w = s (2 (m − low) / (high − low) − 1)",
    weights=weights,
    contributions=contributions,
    centre="mean",
    explain=explain,
    influence="Exact, as a toy is.",
    histograms="hold toys",
    parameters=(SHARE,),
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCHEMES, TOY.key, TOY)


@pytest.fixture
def release(project: Project, manager, as_user) -> Release:
    """The second release of a set, weighed by the toy scheme, as a manager requests it by the form."""
    reference_set = make_release(project).reference_set
    client = as_user(manager)
    page = reverse("annotation:reference-set-detail", args=[project.slug, reference_set.slug])
    shown = client.get(page).content.decode()
    assert "Toy scheme: half of everything" in shown
    assert "Share of the scale&#x27;s half (toy scheme only)" in shown
    create = partial(client.post, reverse("annotation:release-create", args=[project.slug, reference_set.slug]))
    criteria = list(reference_set.campaigns.get().criteria.values_list("name", flat=True))
    data = {"method": "toy", "criteria": criteria}
    assert (
        "&#x27;share&#x27; is -1.0; accepted: a number above 0" in create({**data, "toy_share": "-1"}).content.decode()
    )
    assert create({**data, "toy_share": "0.25"}).status_code == 302
    release = reference_set.releases.get(number=2)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    return release


def test_a_release_uses_the_scheme_with_the_parameter_of_the_form(release: Release) -> None:
    assert (release.method, release.parameters["share"]) == ("toy", 0.25)
    assert release.signature.startswith("weights:toy|share:0.25|")
    weighed = release.weights.order_by("pk")
    weights_by_text = dict(
        zip(
            texts_of(release, weighed.values_list("response_id", flat=True)),
            weighed.values_list("weight", flat=True),
            strict=True,
        )
    )
    assert weights_by_text["Fine."] == pytest.approx(0.25 * 0.5)
    assert stored_content_hash(release) == release.content_hash


def test_pages_and_documents_use_the_texts_of_the_scheme(release: Release, viewer, as_user) -> None:
    client, slug = as_user(viewer), release.reference_set.project.slug
    response = release.weights.get(response__text="Fine.").response
    explained = client.get(reverse("annotation:response-detail", args=[slug, response.pk])).context["weights"]
    assert [explanation.steps for explanation in explained if explanation.weight.release == release] == [
        ["3 toy judgements times 0.25"]
    ]
    address = [slug, release.reference_set.slug, release.number]
    report = client.get(reverse("annotation:release-detail", args=address)).content.decode()
    assert "Toy scheme: half of everything" in report
    assert "<dt>Histograms</dt><dd>hold toys</dd>" in report
    assert "A response's weight is drawn to 0: `w = s (2 (m − low) / (high − low) − 1)`." in data_card(release)


def test_sensitivity_and_influence_use_the_scheme(release: Release) -> None:
    compared = {row.name: row for row in comparisons(release)}
    assert (compared["toy"].label, compared["toy"].parameters) == ("Toy scheme", "share 0.5")
    assert not compared["toy"].is_own  # other parameters than the defaults
    assert compared["toy"].is_charted
    everybody = influences(release)
    assert everybody is not None
    assert np.nanmax(everybody.influence.weights) == pytest.approx(0.25 * 0.5)
