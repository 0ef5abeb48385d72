"""Change the description of a data set. Its items and responses are fixed."""

from annotation.models import Dataset

DETAILS = ("description", "language", "licence", "attribution")
DESCRIBED = ("name", *DETAILS)


def dataset_update(*, dataset: Dataset, **described: str) -> Dataset:
    """Change columns of ``DESCRIBED``; the address and the normalisation rule stay."""
    if unknown := described.keys() - set(DESCRIBED):
        raise TypeError(f"unknown columns: {', '.join(sorted(unknown))}")
    for name, value in described.items():
        setattr(dataset, name, value)
    dataset.save(update_fields=list(described))
    return dataset
