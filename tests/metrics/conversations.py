"""Small weighted conversations, to be explained: English, Arabic, Chinese, and one without a good reference."""

from dataclasses import dataclass

from django.utils import timezone

from annotation.models import (
    Campaign,
    Dataset,
    Item,
    JobState,
    Project,
    ReferenceSet,
    Release,
    ReleaseWeight,
    Response,
    ResponseSource,
    SourceKind,
)
from tests.annotation.worlds.rated import make_campaign, make_response, rate
from tests.snapshots import recalled

ENGLISH = {
    "context": ["my cat ran away last night .", "oh no , did you look under the roof ?"],
    "message": "yes , but i did not find her there",
    "references": [
        (0.8, "i hope you find her soon", "seed"),
        (0.6, "cats always come back home , i am sure she is fine", "mined"),
        (0.3, "did you ask the neighbours if they saw her ?", "mined"),
        (0.0, "i like cats", "mined"),
        (-0.4, "you should not have let her out", "mined"),
        (-0.7, "yes , but i did not find her there", "parrot"),
        (-1.0, "the the the", "random"),
    ],
    "outputs": {
        "Echo": "i hope you find her",
        "Quill": "did you look in the garden ? i hope you find her soon",
        "Parrot": "yes , but i did not find her there",
        "Bore": "i do not know what you mean",
        "Twin": "i hope you find her",
        "Silent": "",
    },
}
ARABIC = {
    "context": [],
    "message": "أين ذهبت القطة ؟",
    "references": [
        (0.9, "ذهبت القطة إلى New York أمس", "seed"),
        (-0.5, "لا أعرف شيئا", "mined"),
    ],
    "outputs": {"Echo": "القطة ذهبت إلى New York", "Quill": "لا أعرف أين القطة"},
}
CHINESE = {
    "context": [],
    "message": "你的猫在哪里？",
    "references": [(0.7, "我的猫在屋顶上睡觉", "seed"), (-0.3, "我不知道", "mined")],
    "outputs": {"Echo": "猫在屋顶上", "Quill": "我不知道猫在哪里"},
}
DISLIKED = {
    "context": [],
    "message": "what do you think ?",
    "references": [(-0.2, "i think so", "seed"), (-0.6, "no", "mined")],
    "outputs": {"Echo": "i think it is fine", "Quill": "no idea"},
}


@dataclass
class Conversations:
    project: Project
    dataset: Dataset
    items: list[Item]
    campaign: Campaign
    reference_set: ReferenceSet
    release: Release

    def reference(self, item: int, text: str) -> Response:
        return Response.objects.get(item=self.items[item], text=text)


def make_conversations(
    project: Project, *conversations: dict, language: str = "en", slug: str = "talk"
) -> Conversations:
    """Items in this order, in a finished release of exactly these weights; Echo's outputs are rated 4 and 5."""
    chosen = conversations or (ENGLISH, DISLIKED)
    name = ("conversations", repr(chosen), language, slug)
    return recalled(name, project, lambda: _make_conversations(project, chosen, language, slug))


def _make_conversations(project: Project, conversations: tuple[dict, ...], language: str, slug: str) -> Conversations:
    dataset = Dataset.objects.create(project=project, name=slug.title(), slug=slug, language=language)
    campaign = make_campaign(dataset, name=f"Quality of {slug}", criteria={"quality": (1, 5)})
    items, weighed = [], []
    for position, conversation in enumerate(conversations):
        item = Item.objects.create(
            dataset=dataset,
            external_id=f"{slug}-{position}",
            position=position,
            context=conversation["context"],
            message=conversation["message"],
        )
        items.append(item)
        for rank, (weight, text, kind) in enumerate(conversation["references"]):
            response = make_response(item, text)
            mined = kind == SourceKind.MINED
            ResponseSource.objects.create(
                response=response,
                item=item,
                kind=kind,
                rank=rank if mined else None,
                score=20.5 - rank if mined else None,
                source_context=["has anybody seen a cat ?"] if mined else [],
                source_message="no , has yours run away ?" if mined else "",
            )
            weighed.append((item, response, weight, kind == SourceKind.SEED))
        for name, text in conversation["outputs"].items():
            output = make_response(item, text, name)
            if name == "Echo":
                rate(campaign, f"ann-{slug}", output, 4)
                rate(campaign, f"bob-{slug}", output, 5)
    reference_set = ReferenceSet.objects.create(
        project=project,
        dataset=dataset,
        name=f"{slug.title()} references",
        slug=f"{slug}-references",
        source_kinds=["seed", "mined", "parrot", "random"],
        original_kinds=["seed"],
    )
    reference_set.campaigns.add(campaign)
    return Conversations(project, dataset, items, campaign, reference_set, make_release(reference_set, weighed))


def make_release(
    reference_set: ReferenceSet, weighed: list[tuple[Item, Response, float, bool]], number: int = 1, **fields: object
) -> Release:
    """Weights as from a file: no judgement of ours is behind them."""
    release = Release.objects.create(
        reference_set=reference_set,
        number=number,
        method="imported",
        signature="weights:imported",
        report={"last_rating_id": 0, "campaigns": []},
    )
    ReleaseWeight.objects.bulk_create(
        ReleaseWeight(
            release=release,
            item=item,
            response=response,
            weight=weight,
            rating_mean=3 + 2 * weight,
            n_ratings=5,
            standard_error=0.1,
            low=max(-1, weight - 0.2),
            high=min(1, weight + 0.2),
            is_original=is_original,
            item_position=item.position,
        )
        for item, response, weight, is_original in weighed
    )
    release.state, release.finished_at, release.content_hash = JobState.DONE, timezone.now(), f"{number:064x}"
    for name, value in fields.items():
        setattr(release, name, value)
    release.save()
    return release
