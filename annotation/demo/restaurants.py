"""The demo's second project: what three systems said of restaurants and hotels, with the median ratings of a crowd."""

import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from annotation.core.problems import Problems
from annotation.datasets.services.content import DatasetContent, ItemDraft, SourceDraft
from annotation.datasets.services.imports import dataset_create
from annotation.demo.imported_ratings import ratings_import
from annotation.judgements.services.options import AGGREGATE, RatingOptions
from annotation.models import (
    Campaign,
    Dataset,
    DatasetImport,
    JobState,
    Membership,
    Project,
    Role,
    SourceKind,
    User,
)

FOLDER = Path(settings.BASE_DIR) / "demo" / "emnlp17"
FILENAME = "emnlp_data_medians.csv"
PROJECT_SLUG, DATASET_SLUG, CAMPAIGN = "restaurants", "restaurants", "Median ratings"
CRITERIA = ["informativeness", "naturalness", "quality"]
LOW, HIGH = 1, 6
SYSTEMS = {"Dusek": "TGen", "LOLS": "LOLS", "WEN": "RNNLG"}  # in the file, and as Dušek et al. (2017) call them
LICENCE = "MIT"
ATTRIBUTION = (
    "Jekaterina Novikova, Ondřej Dušek, Amanda Cercas Curry and Verena Rieser, “Why We Need New Evaluation Metrics for "
    "NLG”, EMNLP 2017. Data from the public repository jeknov/EMNLP_17_submission."
)


class Output(NamedTuple):
    """An output of the file: its line, the item that it belongs to, and the row as it was published."""

    line: int
    item: str
    system: str
    row: dict[str, str]


def published_outputs() -> Iterator[Output]:
    """Yield the outputs in the order of the file.

    The file names no items: an item is a meaning representation, or its n-th occurrence where a system answers it more
    than once.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    numbers: dict[tuple[str, str, int], str] = {}
    of_domain: Counter[str] = Counter()
    content = gzip.decompress((FOLDER / f"{FILENAME}.gz").read_bytes()).decode()
    for line, row in enumerate(csv.DictReader(io.StringIO(content)), start=2):
        domain, system, meaning = row["dataset"], SYSTEMS[row["system"]], row["mr"]
        seen[domain, system, meaning] += 1
        key = domain, meaning, seen[domain, system, meaning]
        if key not in numbers:
            of_domain[domain] += 1
            numbers[key] = f"{domain.lower()}-{of_domain[domain]}"
        yield Output(line, numbers[key], system, row)


def published_table(columns: Mapping[str, str]) -> bytes:
    """Return these columns of the file, under other names, as CSV with the items and systems of the data set."""
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["item", "system", *columns.values()])
    for output in published_outputs():
        writer.writerow([output.item, output.system, *(output.row[name] for name in columns)])
    return table.getvalue().encode()


@transaction.atomic
def restaurants_import(*, by: User) -> dict[str, int]:
    """Create the project with its data set and its ratings, unless it exists; return the counts of what was created."""
    project, _ = Project.objects.get_or_create(
        slug=PROJECT_SLUG,
        defaults={
            "name": "Demo: restaurants and hotels",
            "description": (
                "2,460 outputs of three systems for meaning representations, rated by a crowd: can ratings be "
                "predicted without references?"
            ),
        },
    )
    Membership.objects.get_or_create(project=project, user=by, defaults={"role": Role.OWNER})
    counts: dict[str, int] = {}
    dataset = Dataset.objects.filter(project=project, slug=DATASET_SLUG).first()
    if dataset is None:
        dataset, counts = _dataset(project)
    if not Campaign.objects.filter(project=project, name=CAMPAIGN).exists():
        counts |= _ratings(dataset, by)
    return counts


def _dataset(project: Project) -> tuple[Dataset, dict[str, int]]:
    content, problems = DatasetContent(), Problems(FILENAME)
    for output in published_outputs():
        if output.item not in content.items:
            split = output.row["dataset"]
            item = ItemDraft(output.line, output.item, meaning_representation=output.row["mr"], split=split)
            content.add_item(item, problems)
        source = SourceDraft(output.line, output.row["sys_ref"], SourceKind.SYSTEM.value, system=output.system)
        content.add_source(content.items[output.item], source, problems)
    problems.refuse()
    dataset = dataset_create(
        project=project,
        name="Restaurants and hotels",
        slug=DATASET_SLUG,
        content=content,
        language="en",
        licence=LICENCE,
        attribution=ATTRIBUTION,
        description="Meaning representations of BAGEL, SFRest and SFHot, and what two of three systems made of each.",
    )
    counts = content.counts(dataset.normalisation)
    DatasetImport.objects.create(
        project=project,
        dataset=dataset,
        name=dataset.name,
        filename=FILENAME,
        file_format="csv",
        content=b"",
        report={"counts": counts},
        state=JobState.DONE,
        finished_at=Now(),
    )
    return dataset, counts


def _ratings(dataset: Dataset, by: User) -> dict[str, int]:
    options = RatingOptions(shape=AGGREGATE, aggregate="median", criteria=CRITERIA, scale_min=LOW, scale_max=HIGH)
    table = published_table({name: name for name in CRITERIA})
    return ratings_import(table, dataset=dataset, name=CAMPAIGN, filename=FILENAME, options=options, by=by)
