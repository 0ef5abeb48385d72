from importlib import import_module

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "metrics"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Metrics"

    def ready(self) -> None:
        import_module("metrics.overview")  # registers what the front page of a project shows of this app
        import_module("metrics.notifications")  # registers what members can be notified of
        import_module("metrics.results_page")  # registers what a campaign's results offer of this app
        import_module("metrics.transfer")  # registers what an archive of a project holds of this app
