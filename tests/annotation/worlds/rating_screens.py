"""A running campaign for every scale and presentation that raters meet, and one with training and a test."""

from annotation.campaigns.fields.table import CriterionDraft
from annotation.models import Campaign, Project
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

FLUENT = CriterionDraft(
    "fluency", "How fluent is it?", labels=["Not at all", "A little", "Somewhat", "Mostly", "Perfectly fluent"]
)
SOUND = CriterionDraft(
    "sound",
    "How natural does it sound?",
    scale_max=7,
    labels=[
        "Extremely unnatural",
        "Quite unnatural",
        "Somewhat unnatural",
        "Neither natural nor unnatural",
        "Somewhat natural",
        "Quite natural",
        "Extremely natural",
    ],
)
ADEQUATE = CriterionDraft(
    "adequacy",
    "How much of the meaning is there?",
    scale_min=0,
    scale_max=100,
    labels=["None", "All"],
    kind="slider",
)
NATURAL = CriterionDraft(
    "naturalness", "How natural is it?", kind="magnitude", standard_source="human", standard_value=100.0
)
BETTER = CriterionDraft("better", "Which would you rather hear?", scale_max=2, kind="preference", ties=True)
RELEVANT = CriterionDraft("relevance", "How relevant is the response?")
REASONS = ["It is not in a language I read", "It is garbled"]


def singles(project: Project, *also: CriterionDraft, **options: object) -> Campaign:
    dataset = make_dataset(project, items=2, name="singles")
    return make_campaign(dataset, criteria=[FLUENT, *also, RELEVANT], name="Singles", **options)


def sliders(project: Project, **options: object) -> Campaign:
    return make_campaign(make_dataset(project, items=2, name="sliders"), criteria=[ADEQUATE], name="Sliders", **options)


def magnitudes(project: Project, **options: object) -> Campaign:
    return make_campaign(
        make_dataset(project, items=2, name="magnitudes"), criteria=[NATURAL], name="Magnitudes", **options
    )


def choices(project: Project, *also: CriterionDraft, **options: object) -> Campaign:
    """Create a campaign of pairs: a forced choice, with ratings of both texts if ``also`` is given."""
    dataset = make_dataset(project, items=2, systems=["Ada", "Bo"], name="choices")
    options = {"criteria": [*also, BETTER], "name": "Choices", "presentation": "pair", "ratings_per_unit": 1, **options}
    return make_campaign(dataset, **options)


def lists(project: Project, *, systems: int = 6, **options: object) -> Campaign:
    names = [f"System {chr(65 + number)}" for number in range(systems)]
    dataset = make_dataset(project, items=2, systems=names, name="lists")
    options = {"criteria": [FLUENT], "name": "Lists", "presentation": "list", "ratings_per_unit": 1, **options}
    return make_campaign(dataset, **options)


def prepared(text: str, low: int, high: int, **fields: object) -> dict[str, object]:
    return {"message": "How are you?", "texts": [{"text": text, "expected": {"relevance": [low, high]}}], **fields}


def qualified(project: Project, **options: object) -> Campaign:
    """Create a campaign with one training screen, a test of two screens, two attempts, and two units."""
    qualification = {
        "training": [prepared("Fine, thanks!", 4, 5, feedback="A reply to the question is **relevant**.")],
        "test": [prepared("I am well.", 5, 5), prepared("Seven is a prime.", 1, 2)],
        "pass_mark": 1.0,
        "attempts": 2,
    }
    dataset = make_dataset(project, items=1, systems=["Ada", "Bo"], name="qualified")
    return make_campaign(
        dataset,
        criteria=[RELEVANT],
        name="Qualified",
        qualification=qualification,
        completion_code="DONE-7",
        instructions="Rate how *relevant* each reply is.",
        target="outputs",
        **options,
    )
