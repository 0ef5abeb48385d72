import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from config.checks import refuse_demo_in_production  # noqa: E402 - needs the apps
from config.incoming import Application  # noqa: E402 - likewise

application = Application()

refuse_demo_in_production()
