"""``python -m metrics``."""

import sys

import metrics.single_thread  # noqa: F401 - before anything imports NumPy
from metrics.cli.main import main

sys.exit(main())
