"""The JSON text that hashes are computed from: each value has a single text."""

import json


def canonical_json(data: object) -> bytes:
    """Return JSON in UTF-8, with sorted keys and no spaces; refuse NaN and infinities."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
