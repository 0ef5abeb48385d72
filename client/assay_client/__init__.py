"""Assay's API from Python.

>>> with Assay("http://127.0.0.1:8000", token="...") as assay:  # doctest: +SKIP
...     project = assay.project("my-project")
...     project.import_dataset("outputs.jsonl", name="Outputs").wait()
"""

from assay_client.errors import ApiError, Gone, JobFailed, Unreachable
from assay_client.jobs import Job
from assay_client.project import Project
from assay_client.session import Assay

__all__ = ["ApiError", "Assay", "Gone", "Job", "JobFailed", "Project", "Unreachable"]
