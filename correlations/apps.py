from django.apps import AppConfig


class CorrelationsConfig(AppConfig):
    name = "correlations"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Correlations"
