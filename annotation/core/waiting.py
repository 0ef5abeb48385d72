"""What a job's page says while it waits and runs: how many jobs are before it, and how long the rest will take."""

import math
from datetime import datetime

from django.apps import apps
from django.db.models import Q
from django.utils.timezone import now

from annotation.core.numbers import counted
from annotation.models import Job, JobState

LEAST_SECONDS, LEAST_SHARE = 20, 0.03  # before which a pace says nothing
SOON_HOURS = 48  # before which an end is said in hours, too


def jobs_ahead(job: Job) -> int:
    """Count the unfinished jobs of every kind that were queued before this one, of every project."""
    earlier, together = Q(created_at__lt=job.created_at), Q(created_at=job.created_at, pk__lt=job.pk)
    unfinished = []
    for model in apps.get_models():
        if issubclass(model, Job) and not model.is_piece:
            jobs = model._default_manager.filter(state__in=[JobState.QUEUED, JobState.RUNNING]).order_by()
            unfinished.append(jobs.filter(earlier | together if isinstance(job, model) else earlier).values("pk"))
    first, *others = unfinished
    return int(first.union(*others, all=True).count())


def queue_text(job: Job) -> str:
    """Say when a queued job begins; stands beside “Queued”."""
    ahead = jobs_ahead(job)
    if not ahead:
        return "Next in line"
    return f"{counted(ahead, 'job')} ahead. It starts when {'it is' if ahead == 1 else 'they are'} done."


def time_left(job: Job) -> str:
    """Say how long a running job will take at its pace so far; empty if its progress is of one stage, or too small."""
    if not job.progress_is_whole or job.started_at is None or not job.progress_total:
        return ""
    seconds, share = (now() - job.started_at).total_seconds(), job.progress_done / job.progress_total
    if seconds < LEAST_SECONDS or share < LEAST_SHARE or share >= 1:
        return ""
    minutes = seconds * (1 - share) / share / 60
    if minutes < 1:
        return "less than a minute left"
    if minutes < 90:
        return f"about {counted(math.ceil(minutes), 'minute')} left"
    return f"about {counted(round(minutes / 60), 'hour')} left"


def hours_left(until: datetime) -> str:
    """Say how long it is until then if that is less than two days: ``about 23 hours more``; else nothing."""
    hours = (until - now()).total_seconds() / 3600
    if not 0 < hours < SOON_HOURS:
        return ""
    return f"about {counted(round(hours), 'hour')} more" if hours >= 1 else "less than an hour more"
