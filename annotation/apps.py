from importlib import import_module

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Annotation"

    def ready(self) -> None:
        import_module("annotation.mining.services.sample")  # registers itself as a source of content
        import_module("annotation.projects.services.sign_ins")  # is called when a session begins
        import_module("annotation.notifications.sources")  # is called when a job ends
        import_module("annotation.transfer.tables")  # registers what an archive of a project holds
        import_module("annotation.overview.sources")  # registers what the front page of a project shows
