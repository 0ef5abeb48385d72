"""Names for the types of arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Float32s: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]
Ids: TypeAlias = NDArray[np.int32]
Bools: TypeAlias = NDArray[np.bool_]
