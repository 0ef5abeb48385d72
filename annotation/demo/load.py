"""The demo's data: DSTC7 task 2 as its authors published it, read from the raw files under ``demo/dstc7``."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.writing import campaign_create
from annotation.core.problems import Problems
from annotation.core.progress import Progress, noop
from annotation.core.rows import Table, read_tsv
from annotation.datasets.services.content import DatasetContent, ItemDraft, SourceDraft
from annotation.datasets.services.imports import dataset_create
from annotation.demo import raters as demo_raters
from annotation.demo.imported_ratings import ratings_import
from annotation.judgements.services.options import RatingOptions
from annotation.models import (
    Campaign,
    Dataset,
    DatasetImport,
    JobState,
    Membership,
    Project,
    Role,
    SourceKind,
    System,
    Target,
    User,
)

FOLDER = Path(settings.BASE_DIR) / "demo" / "dstc7"
PROJECT_SLUG, DATASET_SLUG = "demo", "dstc7"
REFERENCE_SYSTEMS = ["Human", "TeamB", "TeamF", "Random"]
OUTPUT_SYSTEMS = ["Baseline", "Constant", "TeamA", "TeamCE", "TeamEC", "TeamD", "TeamG"]
SCORED_SYSTEMS = [name for name in OUTPUT_SYSTEMS if name != "TeamEC"]  # another name of TeamCE
ALIASES = {"TeamEC": "TeamCE"}
REFERENCE_CAMPAIGN, OUTPUT_CAMPAIGN = "Reference ratings", "Output ratings"
DATASET_FILES = ("dstc7-task2-context.tsv", "dstc7-task2-gold_responses.tsv", "dstc7-task2-system_responses.tsv")
JUDGE_FILE = "dstc7-task2-human-eval-per-judge.tsv"
JUDGE_COLUMNS = {"rater": "JudgeID", "item": "InstanceID", "system": "SystemID"}
CRITERIA = ["Relevance", "Informativeness"]
LICENCE = "Open Use of Data Agreement v1.0"
ATTRIBUTION = (
    "Michel Galley, Chris Brockett, Xiang Gao, Jianfeng Gao and Bill Dolan, “Grounded Response Generation Task at "
    "DSTC7”, AAAI Dialog System Technology Challenges Workshop, 2019. Data from the public repository "
    "mgalley/DSTC7-End-to-End-Conversation-Modeling; provided as is, without warranty or liability of its providers."
)

LIVE_CRITERIA = (
    demo_raters.RELEVANCE,
    CriterionDraft(
        name="informativeness",
        question="How much does the response say?",
        labels=("Nothing", "Little", "Something", "Much", "A great deal"),
    ),
)
INSTRUCTIONS = """\
You see the passage of an encyclopedia or a news page that people talk about online, and {what} to the conversation.

1. Read the passage, then {read}.
2. **Relevance**: does the response fit what is being talked about?
3. **Informativeness**: does the response say something, or could it stand anywhere?

Judge content, not spelling: all texts are in lower case, and names or numbers may be masked as `<link>` or `<numbers>`.
There are no right answers. If you are unsure, choose the middle.
"""
CONSENT = """\
This is a trial campaign of the demo. Your ratings are stored under a pseudonym, on this machine only. \
You may stop at any time; what you have sent stays.
"""


def raw_file(name: str) -> bytes:
    """Return the content of a published file."""
    return gzip.decompress((FOLDER / f"{name}.gz").read_bytes())


@transaction.atomic
def demo_import(*, by: User, progress: Progress = noop) -> dict[str, Any]:
    """Create the demo's project, data set, two imported and three live campaigns, if they do not exist.

    Return counts for each of ``dataset``, ``references`` and ``outputs`` that was imported now.
    """
    report: dict[str, Any] = {}
    project = demo_project()
    Membership.objects.get_or_create(project=project, user=by, defaults={"role": Role.OWNER})
    progress(0, 3, "Items, outputs and references")
    dataset = Dataset.objects.filter(project=project, slug=DATASET_SLUG).first()
    if dataset is None:
        dataset, report["dataset"] = _dataset(project)
    for number, (key, name, systems) in enumerate(
        [("references", REFERENCE_CAMPAIGN, REFERENCE_SYSTEMS), ("outputs", OUTPUT_CAMPAIGN, OUTPUT_SYSTEMS)], start=1
    ):
        progress(number, 3, name)
        if not Campaign.objects.filter(project=project, name=name).exists():
            report[key] = _ratings(dataset, name, systems, by)
    progress(3, 3, "Trial campaigns")
    for draft in _trial_campaigns(dataset):
        if not Campaign.objects.filter(project=project, name=draft.name).exists():
            campaign_launch(campaign=campaign_create(project=project, draft=draft))
    if not Campaign.objects.filter(project=project, name=demo_raters.NAME).exists():
        by_name = {system.name: system for system in System.objects.filter(dataset=dataset)}
        demo_raters.watched_campaign(dataset=dataset, systems=by_name, by=by)
    return report


def demo_project() -> Project:
    project, _ = Project.objects.get_or_create(
        slug=PROJECT_SLUG,
        defaults={
            "name": "Demo: DSTC7 conversations",
            "description": "1,000 conversations, 10 systems, 33,000 answers of two ratings each by 317 people, and a "
            "campaign with 5 simulated raters: the whole loop.",
        },
    )
    return project


def _dataset(project: Project) -> tuple[Dataset, dict[str, int]]:
    content, oddities = read_raw_dataset()
    dataset = dataset_create(
        project=project,
        name="DSTC7 task 2",
        slug=DATASET_SLUG,
        content=content,
        language="en",
        licence=LICENCE,
        attribution=ATTRIBUTION,
        description="Grounded conversation: passages, replies of ten systems and of people.",
    )
    counts = content.counts(dataset.normalisation) | oddities
    DatasetImport.objects.create(
        project=project,
        dataset=dataset,
        name=dataset.name,
        filename=", ".join(DATASET_FILES),
        file_format="tsv",
        content=b"",
        report={"counts": counts},
        state=JobState.DONE,
        finished_at=Now(),
    )
    return dataset, counts


def read_raw_dataset() -> tuple[DatasetContent, dict[str, int]]:
    """Return items, references and outputs of the three raw files, and the oddities of the files."""
    content, oddities = DatasetContent(), Counter[str]()
    for name, read in zip(DATASET_FILES, (_read_items, _read_references, _read_outputs), strict=True):
        problems = Problems(name)
        table = read_tsv(raw_file(name), problems)
        read(table, content, problems)
        problems.refuse()
        oddities.update(table.oddities.counts())
    return content, dict(oddities)


def _read_items(table: Table, content: DatasetContent, problems: Problems) -> None:
    for line, (external_id, _depth, text) in table.rows:
        content.add_item(ItemDraft(line, external_id, message=text), problems)


def _read_references(table: Table, content: DatasetContent, problems: Problems) -> None:
    for line, (external_id, *texts) in table.rows:
        for rank, text in enumerate(texts, start=1):
            reference = SourceDraft(line, text, SourceKind.HUMAN.value, rank=rank)
            content.add_source(content.items[external_id], reference, problems)


def _read_outputs(table: Table, content: DatasetContent, problems: Problems) -> None:
    for line, (system, external_id, text) in table.rows:
        output = SourceDraft(line, text, SourceKind.SYSTEM.value, system=system)
        content.add_source(content.items[external_id], output, problems)


def _ratings(dataset: Dataset, name: str, systems: list[str], by: User) -> dict[str, int]:
    options = RatingOptions(
        columns=JUDGE_COLUMNS,
        criteria=CRITERIA,
        only_systems=systems,
        aliases={alias: original for alias, original in ALIASES.items() if alias in systems},
    )
    return ratings_import(raw_file(JUDGE_FILE), dataset=dataset, name=name, filename=JUDGE_FILE, options=options, by=by)


def _trial_campaigns(dataset: Dataset) -> list[CampaignDraft]:
    """Return drafts of two small campaigns to rate in: single responses, and pairs side by side."""
    systems = {system.name: system for system in System.objects.filter(dataset=dataset)}
    shared: dict[str, Any] = {
        "dataset": dataset,
        "criteria": LIVE_CRITERIA,
        "target": Target.CHOSEN,
        "ratings_per_unit": 3,
        "consent": CONSENT,
        "completion_code": "THANK-YOU",
    }
    single = CampaignDraft(
        name="Try it: single responses",
        presentation="single",
        systems=[systems[name] for name in ("Human", "TeamB", "TeamD", "TeamG")],
        item_limit=40,
        instructions=INSTRUCTIONS.format(what="one response", read="the response"),
        **shared,
    )
    pairs = CampaignDraft(
        name="Try it: pairs",
        presentation="pair",
        systems=[systems[name] for name in ("Human", "TeamB", "TeamG")],
        item_limit=25,
        instructions=INSTRUCTIONS.format(what="two responses", read="both responses, and rate each"),
        **shared,
    )
    return [single, pairs]
