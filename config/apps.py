from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import Tags, register
from django.db.models.signals import post_migrate


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Plumbing"

    def ready(self) -> None:
        from config import broker, checks

        register(checks.production_secrets, Tags.security)
        register(checks.single_sign_on, Tags.security, deploy=True)
        # The signal comes once per app that has models; one is enough.
        post_migrate.connect(broker.install_after_migrate, sender=apps.get_app_config("annotation"))
        if settings.EMBEDDED_POSTGRES:
            settings.EMBEDDED_POSTGRES.hold()
