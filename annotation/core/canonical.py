"""JSON as hashes are taken over it: one value, one text."""

import json


def canonical_json(data: object) -> bytes:
    """In UTF-8, keys sorted, no spaces; NaN and infinities, which JSON does not know, are refused."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
