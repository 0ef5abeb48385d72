"""Dry runs: simulated raters at work on a throw-away copy of a campaign, over HTTP, and what they foretell."""

from annotation.services.dry_runs.running import (
    dry_run_create,
    dry_run_delete,
    dry_run_execute,
    sandboxes_sweep,
)
from annotation.services.dry_runs.sandbox import sandbox_purge
from annotation.services.dry_runs.specification import FIELDS, Estimate, Specification, estimate, suggested

__all__ = [
    "FIELDS",
    "Estimate",
    "Specification",
    "dry_run_create",
    "dry_run_delete",
    "dry_run_execute",
    "estimate",
    "sandbox_purge",
    "sandboxes_sweep",
    "suggested",
]
