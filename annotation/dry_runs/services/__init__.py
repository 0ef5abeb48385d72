"""Dry runs: simulated raters at work on a throw-away copy of a campaign, over HTTP, and what they foretell."""

from annotation.dry_runs.services.running import dry_run_create, dry_run_delete, dry_run_execute, sandboxes_sweep
from annotation.dry_runs.services.sandbox import sandbox_purge
from annotation.dry_runs.services.specification import FIELDS, Estimate, Specification, estimate, suggested

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
