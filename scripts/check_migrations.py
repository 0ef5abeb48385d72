"""Run makemigrations --check on a temporary database."""

import os
import sys

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

from django.core.management import execute_from_command_line

execute_from_command_line([sys.argv[0], "makemigrations", "--check", "--dry-run"])
