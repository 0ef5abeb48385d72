"""Whether a network can be trained here."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

LIBRARY = "PyTorch"
INSTALL = "python -m pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu"


def unavailable() -> str:
    """Return why no network can be trained here, and what would help; empty if one can. A trained one needs nothing."""
    if importlib.util.find_spec("torch") is not None:
        return ""
    return f"{LIBRARY} is not installed, and a network learns with it; {INSTALL}"


def torch_network() -> Any:
    """Import the network.

    Raises
    ------
    ValueError
        PyTorch is not installed: how to get it.
    """
    reason = unavailable()
    if reason:
        raise ValueError(f"estimator: {reason}; or the estimator 'ridge'")
    # By name, because the library is optional and takes seconds to import.
    return importlib.import_module("metrics.scoring.qe.torch_network")
