"""``python -m metrics``."""

import sys

from metrics.cli.main import main

sys.exit(main())
