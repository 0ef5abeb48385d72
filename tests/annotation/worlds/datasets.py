"""A small data set for tests of pages: the example that users download."""

from annotation.datasets.services.files import read_dataset
from annotation.datasets.services.imports import dataset_create
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.imports import campaign_import
from annotation.judgements.services.options import RatingOptions
from annotation.models import Campaign, Dataset, Project
from tests.conftest import ROOT

EXAMPLES = ROOT / "demo" / "examples"


def example_dataset(project: Project, name: str = "Small") -> Dataset:
    content, _ = read_dataset((EXAMPLES / "dataset.jsonl").read_bytes(), filename="dataset.jsonl", file_format="jsonl")
    return dataset_create(project=project, name=name, content=content)


def example_ratings(dataset: Dataset, name: str = "Judged") -> Campaign:
    raw = (EXAMPLES / "ratings.csv").read_bytes()
    content = read_ratings(raw, filename="ratings.csv", file_format="csv", options=RatingOptions())
    campaign, _ = campaign_import(dataset=dataset, name=name, by=None, content=content, filename="ratings.csv")
    return campaign
