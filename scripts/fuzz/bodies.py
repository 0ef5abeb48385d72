"""Bodies that the API accepts, and how bodies are encoded."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

BOUNDARY = "fuzz-boundary"
Value = str | tuple[str, bytes]  # a file is a name and its content
Pairs = list[tuple[str, Value]]


class Valid(NamedTuple):
    """A request, and for a form the other values that its fields offer."""

    method: str
    address: str
    body: Any = None  # pairs of a form, or the value that becomes JSON
    kind: str = ""  # of the body: form, files or json
    options: Mapping[str, Sequence[str]] = {}
    buttons: Sequence[tuple[str, str]] = ()
    role: str = "owner"
    operation: str = ""  # of the API's schema


def encoded(body: Any, kind: str) -> tuple[bytes, str]:
    """Return a body and its content type."""
    if kind == "json":
        return json.dumps(body).encode("utf-8", "surrogatepass"), "application/json"
    if kind == "form":
        texts = [(name, value if isinstance(value, str) else value[0]) for name, value in body]
        return urlencode(texts, errors="surrogatepass").encode(), "application/x-www-form-urlencoded"
    parts = []
    for name, value in body:
        filename, content = ("", value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else value
        head = f'form-data; name="{quote(name, safe=" :[]")}"' + (f'; filename="{filename}"' if filename else "")
        parts.append(f"--{BOUNDARY}\r\nContent-Disposition: {head}\r\n\r\n".encode() + content + b"\r\n")
    return b"".join([*parts, f"--{BOUNDARY}--\r\n".encode()]), f"multipart/form-data; boundary={BOUNDARY}"


FILES = {
    "json": ("campaign.json", b'{"assay_campaign": 1}'),
    "ratings": ("r.csv", b"rater,item,text,quality\nann,i0,the cat ran off here 0,4\n"),
    "weights": ("w.csv", b"item,text,weight\ni0,the cat ran off here 0,0.5\n"),
    "scores": ("s.csv", b"system,item,judge,ann\nAlpha,i0,0.5,3\nBeta,i0,1,4\n"),
    "corpus": ("c.jsonl", b'{"context": ["Hi."], "message": "How are you?", "response": "Fine."}\n'),
    "texts": ("t.txt", b"one text\nand another\n"),
    "project": ("lab.assay.zip", b"PK"),  # a worker reads it, and refuses it
    "outputs": ("o.csv", b"item_id,text\ni0,A cat I think.\n"),
    "dataset": ("d.jsonl", b'{"id": "1", "message": "Hi?", "references": ["Yes"], "outputs": {"A": "Hm."}}\n'),
}
CRITERION = {"name": "quality", "question": "How good?"}
DRAFT = {"dataset": "chats", "name": "Drafted anew", "criteria": [CRITERION]}
AGE = {"name": "age", "question": "How old are you?", "kind": "number", "required": False, "low": 18}
ASKED = {"when": "before", "questions": [AGE]}
RULES = [{"rule": "median_seconds_below", "version": 1, "action": "flag", "after": 1, "seconds": 4}]
STUDIED = {"release": "gold/v1", "campaigns": ["Outputs"], "systems": ["Alpha", "Beta", "Gamma"], "bootstrap": 0}
OTHERS = {"campaigns": ["More outputs"], "systems": STUDIED["systems"], "bootstrap": 0}
JOINED = {"metrics": ["bleu"], "subsets": ["all"], "unit_size": 1, "assignments": 5, "sweeps": False}
SELECTED = {"dataset": "seeds", "campaigns": ["Seeds, rated"], "threshold": 4, "shares": {"dev": 1}, "min_ratings": 1}
# By the last words of an operation's address; of two that fit, the longer one.
BODIES: dict[str, dict[str, Any]] = {
    "projects": {"name": "Newest lab", "description": "A lab."},
    "example-projects": {"template": "blank"},
    "campaigns": DRAFT | {"ratings_per_unit": 2, "target": "outputs", "presentation": "single", "questions": ASKED},
    "amendments/add-items": {},
    "amendments/extend": {"ratings_per_unit": 9},
    "amendments/resume-system": {"system": "Alpha"},
    "amendments/top-up": {"ratings": 2},
    "amendments/stop-system": {"system": "Alpha"},
    "clone": {"name": "Live again", "dataset": "more-chats"},
    "decisions": {"rater": "ann", "action": "exclude", "reason": "Odd.", "replace": True},
    "decisions/reopen-unjudged": {"per_unit": 2},
    "rules": {"rules": RULES},
    "apply": {"replace": True},
    "put campaigns": DRAFT | {"draft_version": 1},
    "campaigns/start": {"dataset": "chats", "template": "delta-bleu-systems", "name": "Begun"},
    "members": {"username": "otto", "role": "viewer"},
    "invitations": {"role": "viewer", "most_uses": 2, "days": 3},
    "mining-runs": {"dataset": "chats", "corpus": "pool", "specification": {"n": 3}, "seeds": {"kind": "human"}},
    "store": {"near_duplicates": False},
    "models": {"name": "Of texts", "kind": "vectors", "dataset": "chats", "texts": ["messages"]},
    "parameter-studies": {
        "name": "Orders",
        "specification": STUDIED | {"metric": "bleu", "sweeps": [{"parameter": "max_order"}], "halves": 0, "seed": 7},
    },
    "joint-studies": {"name": "Both", "specification": {"datasets": [STUDIED, OTHERS]} | JOINED},
    "studies": {"name": "Again", "specification": STUDIED | {"unit_size": 1, "assignments": 5, "sweeps": False}},
    "corpora": {"name": "Third pool", "dataset": "chats", "source_kinds": ["human"]},
    "datasets/chats/outputs": {"outputs": [{"item_id": "i0", "system": "Latest", "text": "A cat, I think."}]},
    "dataset-imports": {"name": "Yet more", "items": [{"id": "1", "message": "Hi?", "references": ["Yes."]}]},
    "rating-imports": {
        "dataset": "chats",
        "name": "More ratings",
        "judgements": [{"rater": "ann", "item": "i0", "text": "the cat ran off here 0", "ratings": {"quality": 4}}],
    },
    "reference-sets": {"dataset": "chats", "name": "Bronze", "campaigns": ["References"], "source_kinds": ["human"]},
    "reference-sets/gold": {"name": "Gold", "description": "Of gold."},
    "releases": {
        "method": "linear",
        "parameters": {},
        "exclusion_rules": [{"rule": "min_ratings_per_rater", "version": 1, "ratings": 1}],
    },
    "deprecate": {"reason": "Old."},
    "rate": {"like": "References", "ratings_per_unit": 2, "name": "Rated again"},
    "score-runs": {"release": "gold/v1", "systems": ["Alpha"], "metric": "bleu", "parameters": {"max_order": 2}},
    "scored-texts": {
        "metric": "delta_bleu",
        "parameters": {"max_order": 2, "tokenize": "13a"},
        "hypothesis": "I know what you mean.",
        "references": [{"text": "I know what that means.", "weight": 0.9}, {"text": "I do not know.", "weight": -0.4}],
    },
    "seed-samples": {"corpus": "pool", "name": "Drawn", "n": 2, "seed": 1},
    "seed-selections": SELECTED | {"seed": 4, "again": True},
    "preview": SELECTED,
    "seed-selections/rate": {"like": "Seeds, rated", "ratings_per_unit": 2, "name": "Seeds again"},
    "token": {"username": "vera", "password": "password", "name": "My notebook"},
    "datasets/chats": {"name": "Chats", "description": "Of chats."},
    "members/vera": {"role": "manager"},
    "lab": {"name": "Lab", "description": "A lab."},
    "lab/delete": {"confirmation": "not its name"},  # what follows needs it
    "delete": {"confirmation": "not its name"},
}
BODIES["look"] = BODIES["rating-imports"]
UPLOADS: dict[str, Pairs] = {
    "corpora": [("name", "Fourth pool"), ("file", FILES["corpus"])],
    "datasets/chats/outputs": [("system", "Latest"), ("file", FILES["outputs"])],
    "dataset-imports": [("name", "Yet more"), ("file", FILES["dataset"])],
    "models": [("name", "Of a file"), ("kind", "vectors"), ("file", FILES["texts"])],
    "project-imports": [("name", "Moved"), ("file", FILES["project"])],
    "rating-imports": [("dataset", "chats"), ("name", "More ratings"), ("file", FILES["ratings"])],
    "dataset-imports/look": [("file", FILES["dataset"])],
    "look": [("dataset", "chats"), ("name", "More ratings"), ("file", FILES["ratings"])],
    "import": [("dataset", "chats"), ("name", "Theirs"), ("file", FILES["weights"])],
    "score-imports": [("dataset", "chats"), ("names", "judge=Mine"), ("skip", "ann"), ("file", FILES["scores"])],
}


def documents_of(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bodies that name what a world has made."""
    from annotation.campaigns.services.documents import campaign_export
    from annotation.models import Campaign

    live = Campaign.objects.get(pk=known["campaign_pk"])
    return {
        "campaigns/import": {"campaign": campaign_export(live), "dataset": "chats"},
        "response-lists": {"dataset": "chats", "name": "Named", "responses": [known["response_pk"]]},
        "verifications": {"study": known["study_pk"]},
    }


def operations(known: Mapping[str, Any], documents: Mapping[str, Any], names: str = "") -> Iterator[Valid]:
    """Yield every operation of the API's schema whose address ``names`` this, with a body.

    ``documents`` are bodies made from the world.
    """
    from drf_spectacular.generators import SchemaGenerator

    schema = SchemaGenerator().get_schema(request=None, public=True)
    examples = {**BODIES, **documents}
    for template, methods in schema["paths"].items():
        if names not in template:
            continue
        address = template.format(**{name: quote(str(value)) for name, value in known.items()})
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                example = _of_longest(examples, address, method)
                if example is None:
                    raise LookupError(f"No body for {method} {template}; add one to BODIES.")
                yield Valid(method.upper(), address, example, "json", operation=operation["operationId"])
            if "multipart/form-data" in content:
                body = _of_longest(UPLOADS, address) or []
                yield Valid(method.upper(), address, body, "files", operation=operation["operationId"])
            if not content:
                yield Valid(method.upper(), address, operation=operation["operationId"])


def _of_longest(examples: Mapping[str, Any], address: str, method: str = "") -> Any:
    """Return the body of the longest name that the address ends with; with the method before it, if there is one."""
    words = [word for word in address.strip("/").split("/") if not word.isdecimal()]
    fitting = [name for name in examples if words[-len(name.split("/")) :] == name.split("/")]
    name = max(fitting, key=len, default="")
    return examples.get(f"{method} {name}", examples.get(name))
