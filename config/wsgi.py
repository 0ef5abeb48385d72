import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from config.incoming import GuardedApplication  # noqa: E402 - needs the apps

application = GuardedApplication()
