"""An example project for each aim: a few published texts, and a draft that can be launched at once."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction

from annotation.campaigns.design.templates import ALL_TEMPLATES
from annotation.campaigns.services.starting import campaign_start
from annotation.core.errors import AnnotationError
from annotation.core.problems import shown
from annotation.datasets.services.files import read_dataset
from annotation.datasets.services.imports import dataset_create
from annotation.demo.load import ATTRIBUTION, LICENCE
from annotation.models import Campaign, User
from annotation.projects.services.projects import project_create

FOLDER = Path(settings.BASE_DIR) / "demo" / "aims"
CONSENT = """\
This is an example. You read short texts from a published data set and rate them. Your ratings are kept under the \
name or nickname that you enter, in this installation only. You may stop at any time.
"""


@dataclass(frozen=True)
class Texts:
    """A file of texts, with what its data set says of itself."""

    filename: str
    name: str
    description: str
    licence: str
    attribution: str


TEXTS = {
    "conversations": Texts(
        "conversations.jsonl",
        "DSTC7, 12 conversations",
        "Passages with replies of four systems and of people: 12 of the 1,000 items of DSTC7 task 2.",
        LICENCE,
        ATTRIBUTION,
    ),
    "meanings": Texts(
        "meanings.jsonl",
        "BAGEL, 16 meanings",
        "Meaning representations of restaurants, and what two systems made of them.",
        "MIT",
        "Jekaterina Novikova, Ondřej Dušek, Amanda Cercas Curry and Verena Rieser, “Why We Need New Evaluation "
        "Metrics for NLG”, EMNLP 2017. Data from the public repository jeknov/EMNLP_17_submission.",
    ),
}
EXAMPLES = {template.slug: template for template in ALL_TEMPLATES}


@transaction.atomic
def example_create(*, template: str, by: User) -> Campaign:
    """Create a project of the user's own with the texts and the draft of an aim. Return the draft."""
    if template not in EXAMPLES:
        raise AnnotationError.at("template", f"Found {shown(template)!r}; accepted: {', '.join(EXAMPLES)}.")
    chosen = EXAMPLES[template]
    texts = TEXTS[chosen.example]
    project = project_create(
        by=by,
        name=f"Example: {chosen.aim}",
        description=f"An example to try things out. {texts.description}",
        is_example=True,
    )
    content, _ = read_dataset((FOLDER / texts.filename).read_bytes(), filename=texts.filename, file_format="jsonl")
    dataset = dataset_create(
        project=project,
        name=texts.name,
        content=content,
        language="en",
        description=texts.description,
        licence=texts.licence,
        attribution=texts.attribution,
    )
    return campaign_start(project=project, dataset=dataset, template=template, consent=CONSENT, by=by)
