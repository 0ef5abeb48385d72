"""Linear algebra in one thread, for the same results on every machine (docs/decisions/one-thread.md).

It must be imported before NumPy.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
