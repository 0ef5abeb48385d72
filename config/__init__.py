import metrics.single_thread  # noqa: F401 - before anything imports NumPy
from config.celery import app as celery_app

__all__ = ["celery_app"]
