"""The whole path in one command, from a corpus to a score."""

import pytest
from django.core.management import CommandError, call_command

from annotation.models import (
    Campaign,
    Corpus,
    MinedCandidate,
    MiningRun,
    Project,
    Rating,
    Release,
    ResponseSource,
    SeedSelection,
    SourceKind,
    User,
)
from annotation.references.releases.services.releases import stored_content_hash
from metrics.models import ScoreRun


@pytest.mark.django_db
def test_one_command_leads_from_a_corpus_to_scores(capsys: pytest.CaptureFixture[str]) -> None:
    User.objects.create_user("ann")
    call_command("tour", user="ann", items=8, n=3, negatives=1)
    project = Project.objects.get(slug="tour")

    corpus = Corpus.objects.get(project=project)
    assert corpus.n_triples == 35_161  # the publisher's README

    selection = SeedSelection.objects.get(project=project)
    n_seeds = selection.members.count()
    assert 0 < n_seeds <= 8
    assert all(member.rating_mean >= 4 for member in selection.members.all())

    run = MiningRun.objects.get(project=project)
    candidates = MinedCandidate.objects.filter(run=run, fate="kept")
    assert run.stored_at is not None
    assert candidates.filter(kind="mined").count() == 3 * n_seeds
    assert candidates.values("item").distinct().count() == n_seeds
    mined = ResponseSource.objects.filter(mining_run=run)
    assert mined.count() == candidates.count()

    originals, references, seeds_again = Campaign.objects.filter(project=project).order_by("pk")
    ratings = Rating.objects.filter(extra=False)
    assert ratings.filter(campaign=originals).count() == 3 * 8
    assert ratings.filter(campaign=seeds_again).count() == 2 * n_seeds
    assert ratings.filter(campaign=references).count() == 5 * mined.values("response").distinct().count()

    release = Release.objects.get(reference_set__project=project)
    seeds = release.weights.filter(is_original=True, item__seed_memberships__isnull=False)
    assert set(seeds.values_list("n_ratings", flat=True)) <= {5, 10}  # ten where a mined text is the seed's own
    assert stored_content_hash(release) == release.content_hash
    weights = {
        kind: [row.weight for row in release.weights.filter(response__sources__kind=kind)]
        for kind in (SourceKind.SEED, SourceKind.RANDOM)
    }
    assert min(weights[SourceKind.SEED]) > max(weights[SourceKind.RANDOM])

    runs = ScoreRun.objects.filter(project=project)
    assert {(score_run.metric, score_run.subset["kind"]) for score_run in runs} == {
        ("bleu", "original"),
        ("bleu", "all"),
        ("delta_bleu", "all"),
    }
    output = capsys.readouterr().out
    assert f"{ratings.count():,} ratings" in output
    assert "/p/tour/" in output


@pytest.mark.django_db
def test_it_names_what_it_accepts() -> None:
    User.objects.create_user("ann")
    with pytest.raises(CommandError, match="--items: found 3; accepted: 4 to 900"):
        call_command("tour", user="ann", items=3)
    with pytest.raises(CommandError, match="found 'nobody'; no such user"):
        call_command("tour", user="nobody")
    assert not Project.objects.exists()
