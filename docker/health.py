"""Ask web how a part of Assay is: python docker/health.py PART. Ends with 0 if it works, else with 1 and the state."""

import json
import os
import sys
import urllib.error
import urllib.request

WORKS = ("ok", "busy")  # as `annotation.core.heartbeats.Work`; a test compares them


def state_of(part: str, body: dict[str, object]) -> str:
    return str(body.get(part, "unknown"))


def asked(address: str) -> dict[str, object]:
    request = urllib.request.Request(address, headers={"Host": "web"})  # noqa: S310 - http within the network
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - as above
            return dict(json.load(answer))
    except urllib.error.HTTPError as degraded:  # its body names what does not work
        return dict(json.load(degraded))


def main(part: str) -> int:
    address = os.environ.get("ASSAY_HEALTH_URL", f"http://{'127.0.0.1' if part == 'web' else 'web'}:8000/healthz")
    state = state_of(part, asked(address))
    sys.stdout.write(f"{part}: {state}\n")
    return int(state not in WORKS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
