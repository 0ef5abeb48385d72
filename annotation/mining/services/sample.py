"""Draw triples at random from a corpus as the content of a new data set."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from annotation.allocation.splits import draws
from annotation.core.errors import AnnotationError
from annotation.core.progress import Beat
from annotation.datasets.services.content import DatasetContent, ItemDraft, SourceDraft
from annotation.datasets.services.imports import CONTENT_SOURCES
from annotation.hygiene.steps import clean, mask, step_from_dict
from annotation.mining.selectors import corpus_index
from annotation.models import Corpus, SourceKind

BEAT_EVERY = 500


def sample_draw(options: Mapping[str, Any], beat: Beat) -> tuple[DatasetContent, dict[str, int]]:
    """Return the first ``n`` triples, in the order of the random seed, that the hygiene steps keep.

    Each becomes an item with its context, its message, and its response as the seed, all masked by the steps.
    """
    corpus = Corpus.objects.defer("content").filter(pk=options["corpus"]).first()
    if corpus is None:
        raise AnnotationError.at("corpus", "The corpus was deleted since the sample was requested.")
    steps = [step_from_dict(record) for record in options["hygiene"]]
    content, counts = DatasetContent(), Counter(drawn=0, dropped_by_hygiene=0, masked_by_hygiene=0)
    index = corpus_index(corpus)
    for number in draws(options["seed"], index.n):
        if len(content.items) == options["n"]:
            break
        if counts["drawn"] % BEAT_EVERY == 0:
            beat()
        counts["drawn"] += 1
        triple = index.triple(number)
        message, response = clean(triple.message, steps), clean(triple.response, steps)
        if message.dropped or response.dropped:
            counts["dropped_by_hygiene"] += 1
            continue
        context = [mask(turn, steps) for turn in triple.context]
        is_masked = (*context, message.text, response.text) != (*triple.context, triple.message, triple.response)
        counts["masked_by_hygiene"] += is_masked
        name = f"{corpus.slug}-{number}"
        source = SourceDraft(counts["drawn"], response.text, SourceKind.SEED.value)
        content.items[name] = ItemDraft(counts["drawn"], name, context, message.text, sources=[source])
    if len(content.items) < options["n"]:
        raise AnnotationError.at(
            "n",
            f"Of the {counts['drawn']:,} triples of “{corpus}” the hygiene steps leave {len(content.items):,}; "
            f"accepted: up to as many, {options['n']:,} were requested.",
        )
    return content, dict(counts)


CONTENT_SOURCES["sample"] = sample_draw
