"""What may be changed about a data set after its import: its description. Its items and responses are fixed."""

from annotation.models import Dataset


def dataset_update(
    *, dataset: Dataset, name: str, description: str, language: str, licence: str, attribution: str
) -> Dataset:
    """Its address and its normalisation stay: responses were made one by it."""
    dataset.name, dataset.description, dataset.language = name, description, language
    dataset.licence, dataset.attribution = licence, attribution
    dataset.save(update_fields=["name", "description", "language", "licence", "attribution"])
    return dataset
