from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from annotation.models import Heartbeat


def worker_age_seconds() -> float | None:
    """Seconds since a worker was last seen, by the database's clock; None if never."""
    age = ExpressionWrapper(Now() - F("seen_at"), output_field=DurationField())
    beat = Heartbeat.objects.filter(name="worker").annotate(age=age).first()
    return None if beat is None else beat.age.total_seconds()
