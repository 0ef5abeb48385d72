import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

from config.checks import refuse_demo_in_production  # noqa: E402 - needs the apps

refuse_demo_in_production()
