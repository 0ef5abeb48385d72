"""What notifications listen to; imported when the app is ready."""

from annotation.core.jobs import ENDED
from annotation.notifications.services.recording import job_ended

ENDED.append(job_ended)
