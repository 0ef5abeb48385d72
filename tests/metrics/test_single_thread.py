import os
import subprocess
import sys

import pytest

CODE = """
import atexit, sys
atexit.register(lambda: (__import__("numpy"), print(*sys.modules)))
sys.argv = ["assay", "--help"]
import {module}
"""


@pytest.mark.parametrize("module", ["config", "metrics.__main__"])
def test_threads_are_limited_before_numpy_is_imported(module):
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    command = [sys.executable, "-c", CODE.format(module=module)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    imported = done.stdout.splitlines()[-1].split()
    assert imported.index("metrics.single_thread") < imported.index("numpy"), done.stderr
