"""Trained models for the playground, learnt from real conversations."""

from functools import cache

from django.conf import settings
from django.utils import timezone

from annotation.models import JobState, Project
from metrics.models import TrainedModel
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors
from tests.metrics.scoring.corpora import dstc7_sample

NAMES = {"lsa": "Chat space", "language_model": "Chat bigrams", "vectors": "Chat vectors"}


def train_models(project: Project, *kinds: str) -> dict[str, TrainedModel]:
    """Finished models of these kinds, in the folder that the settings name."""
    store = ModelStore([settings.MODELS_DIR])
    models = {}
    for kind in kinds:
        model = _trained(kind)
        models[kind] = TrainedModel.objects.create(
            project=project,
            name=NAMES[kind],
            slug=kind.replace("_", "-"),
            version=1,
            kind=kind,
            digest=store.add(model).removeprefix("sha256:"),
            state=JobState.DONE,
            finished_at=timezone.now(),
            report={"model": model.facts},
        )
    return models


@cache
def _trained(kind: str) -> LsaModel | LanguageModel | WordVectors:
    texts = dstc7_sample().gold_texts
    if kind == "lsa":
        return LsaModel.train(texts, components=30)
    if kind == "language_model":
        return LanguageModel.train(texts, order=3)
    return WordVectors.train(texts, dimension=20)
