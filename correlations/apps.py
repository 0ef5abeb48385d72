from importlib import import_module

from django.apps import AppConfig


class CorrelationsConfig(AppConfig):
    name = "correlations"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Correlations"

    def ready(self) -> None:
        import_module("correlations.overview")  # registers what the front page of a project shows of this app
        import_module("correlations.notifications")  # registers what members can be notified of
        import_module("correlations.results_page")  # registers what a campaign's results offer of this app
        import_module("correlations.transfer")  # registers what an archive of a project holds of this app
