"""Requests that ought to be accepted: links and forms of the pages themselves, and bodies of the API."""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

PAGES = 900  # that are looked through for links and forms
ALIKE = 2  # pages of one route with the same names in the query
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


# --- Pages ------------------------------------------------------------------------------------------------------------

TYPED = {
    "number": "1",
    "email": "a@example.org",
    "url": "https://example.org/",
    "date": "2026-01-02",
    "password": "password",
    "text": "Some words",
    "textarea": "Some words, and more.",
}
FILES = {
    "json": ("campaign.json", b'{"assay_campaign": 1}'),
    "ratings": ("r.csv", b"rater,item,text,quality\nann,i0,the cat ran off here 0,4\n"),
    "weights": ("w.csv", b"item,text,weight\ni0,the cat ran off here 0,0.5\n"),
    "scores": ("s.csv", b"system,item,score\nAlpha,i0,0.5\nBeta,i0,1\n"),
    "corpus": ("c.jsonl", b'{"context": ["Hi."], "message": "How are you?", "response": "Fine."}\n'),
    "texts": ("t.txt", b"one text\nand another\n"),
    "dataset": ("d.jsonl", b'{"id": "1", "message": "Hi?", "references": ["Yes"], "outputs": {"A": "Hm."}}\n'),
}
KIND_OF_FILE = {
    "rating-imports": "ratings",
    "references": "weights",
    "runs": "scores",
    "corpora": "corpus",
    "models": "texts",
    "campaigns": "json",
}


class _Form:
    def __init__(self, attributes: Mapping[str, str], address: str) -> None:
        self.method = attributes.get("method", "get").upper()
        self.address = urljoin(address, attributes.get("action", "") or address)
        self.kind = "files" if "multipart" in attributes.get("enctype", "") else "form"
        self.pairs: Pairs = []
        self.options: dict[str, list[str]] = {}
        self.buttons: list[tuple[str, str]] = []

    def add(self, name: str, value: Value, *, is_set: bool = True) -> None:
        if isinstance(value, str):
            self.options.setdefault(name, []).append(value)
        if is_set:
            self.pairs.append((name, value))


class _Page(HTMLParser):
    """What a page offers: links, addresses that its script requests, and forms with the values they show."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address, self.links = address, []  # type: tuple[str, list[str]]
        self.requests: list[tuple[str, str, _Form | None]] = []
        self.forms: list[_Form] = []
        self.by_id: dict[str, _Form] = {}
        self.form: _Form | None = None
        self.select: tuple[_Form, str, list[str], list[str]] | None = None
        self.area: tuple[_Form, str] | None = None
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form = _Form(attributes, self.address)
            self.forms.append(self.form)
            self.by_id[attributes.get("id", "")] = self.form
        form = self.by_id.get(attributes["form"]) if "form" in attributes else self.form
        for method in ("get", "post", "put", "delete"):
            if target := attributes.get(f"hx-{method}"):
                self.requests.append((method.upper(), urljoin(self.address, target), form))
        name = attributes.get("name", "")
        if tag == "a" and attributes.get("href"):
            self.links.append(urljoin(self.address, attributes["href"]))
        elif form and name and "disabled" not in attributes:
            self._field(tag, form, name, attributes)
        elif tag == "option" and self.select:
            value = attributes.get("value", "")
            self.select[2].append(value)
            if "selected" in attributes:
                self.select[3].append(value)

    def _field(self, tag: str, form: _Form, name: str, attributes: dict[str, str]) -> None:
        kind, value = attributes.get("type", "text"), attributes.get("value", "")
        if tag == "button" or kind in ("submit", "image"):
            form.buttons.append((name, value))
        elif tag == "select":
            self.select = (form, name, [], [])
        elif tag == "textarea":
            self.area, self.text = (form, name), ""
        elif kind in ("checkbox", "radio"):
            form.add(name, value or "on", is_set="checked" in attributes)
        elif kind == "file":
            kinds = (kind for part, kind in KIND_OF_FILE.items() if f"/{part}/" in self.address)
            form.add(name, FILES[next(kinds, "dataset")])
        elif name != "csrfmiddlewaretoken":
            form.add(name, value or (attributes.get("min") or TYPED.get(kind, "") if "required" in attributes else ""))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        elif tag == "textarea" and self.area:
            form, name = self.area
            form.add(name, self.text.removeprefix("\n") or TYPED["textarea"])
            self.area = None
        elif tag == "select" and self.select:
            form, name, values, chosen = self.select
            form.options[name] = values
            form.pairs += [(name, value) for value in chosen or [value for value in values if value][:1]]
            self.select = None


def pages(begin: Sequence[str], role: str, get: Callable[[str, str], str]) -> Iterator[Valid]:
    """Yield the links and forms of the pages that can be reached from the first; ``get`` returns a page's HTML."""
    from django.urls import Resolver404, resolve

    queue, seen, alike = deque(begin), set(begin), Counter[tuple[str, ...]]()
    looked_through = 0
    while queue and looked_through < PAGES:
        address = queue.popleft()
        looked_through += 1
        page = _Page(address)
        page.feed(get(address, role))
        for form in page.forms:
            yield _valid(form.method, form.address, form, role)
        for method, target, form in page.requests:
            yield _valid(method, target, form, role)
        for link in page.links:
            parts = urlsplit(link)
            if parts.netloc or parts.scheme:
                continue
            try:
                route = resolve(parts.path).route
            except Resolver404:
                continue
            found = parts._replace(fragment="").geturl()
            kind = (route, *sorted({name for name, _ in parse_qsl(parts.query)}))
            if found not in seen and alike[kind] < ALIKE:
                alike[kind] += 1
                seen.add(found)
                queue.append(found)
                yield Valid("GET", found, role=role)


def _valid(method: str, address: str, form: _Form | None, role: str) -> Valid:
    if form is None:
        return Valid(method, address, role=role)
    if method == "GET":
        texts = [(name, value) for name, value in form.pairs if isinstance(value, str)]
        return Valid(method, f"{urlsplit(address).path}?{urlencode(texts)}", options=form.options, role=role)
    return Valid(method, address, list(form.pairs), form.kind, form.options, tuple(form.buttons), role)


# --- API --------------------------------------------------------------------------------------------------------------

CRITERION = {"name": "quality", "question": "How good?"}
DRAFT = {"dataset": "chats", "name": "Drafted anew", "criteria": [CRITERION]}
RULES = [{"rule": "median_seconds_below", "version": 1, "action": "flag", "after": 1, "seconds": 4}]
STUDIED = {"release": "gold/v1", "campaigns": ["Outputs"], "systems": ["Alpha", "Beta", "Gamma"], "bootstrap": 0}
SELECTED = {"dataset": "seeds", "campaigns": ["Seeds, rated"], "threshold": 4, "shares": {"dev": 1}, "min_ratings": 1}
# By the last words of an operation's address; of two that fit, the longer one.
BODIES: dict[str, dict[str, Any]] = {
    "projects": {"name": "Newest lab", "description": "A lab."},
    "campaigns": DRAFT | {"ratings_per_unit": 2, "target": "outputs", "presentation": "single"},
    "amendments/add-items": {},
    "amendments/extend": {"ratings_per_unit": 9},
    "amendments/resume-system": {"system": "Alpha"},
    "amendments/stop-system": {"system": "Alpha"},
    "clone": {"name": "Live again", "dataset": "more-chats"},
    "decisions": {"rater": "ann", "action": "exclude", "reason": "Odd.", "replace": True},
    "decisions/reopen-unjudged": {"per_unit": 2},
    "rules": {"rules": RULES},
    "apply": {"replace": True},
    "campaigns/start": {"dataset": "chats", "template": "delta-bleu-systems", "name": "Begun"},
    "members": {"username": "otto", "role": "viewer"},
    "mining-runs": {"dataset": "chats", "corpus": "pool", "specification": {"n": 3}, "seeds": {"kind": "human"}},
    "store": {"near_duplicates": False},
    "models": {"name": "Of texts", "kind": "vectors", "dataset": "chats", "texts": ["messages"]},
    "parameter-studies": {
        "name": "Orders",
        "specification": STUDIED | {"metric": "bleu", "sweeps": [{"parameter": "max_order"}], "halves": 0, "seed": 7},
    },
    "studies": {"name": "Again", "specification": STUDIED | {"unit_size": 1, "assignments": 5, "sweeps": False}},
    "corpora": {"name": "Third pool", "dataset": "chats", "source_kinds": ["human"]},
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
        "parameters": {"n_bootstrap": 20, "seed": 3},
        "exclusion_rules": [{"rule": "min_ratings_per_rater", "version": 1, "ratings": 1}],
    },
    "deprecate": {"reason": "Old."},
    "rate": {"like": "References", "ratings_per_unit": 2, "name": "Rated again"},
    "score-runs": {"release": "gold/v1", "systems": ["Alpha"], "metric": "bleu", "parameters": {"max_order": 2}},
    "seed-samples": {"corpus": "pool", "name": "Drawn", "n": 2, "seed": 1},
    "seed-selections": SELECTED | {"seed": 4, "again": True},
    "preview": SELECTED,
    "seed-selections/rate": {"like": "Seeds, rated", "ratings_per_unit": 2, "name": "Seeds again"},
    "token": {"username": "vera", "password": "password"},
    "datasets/chats": {"name": "Chats", "description": "Of chats."},
    "members/vera": {"role": "manager"},
    "lab": {"name": "Lab", "description": "A lab."},
}
BODIES["look"] = BODIES["rating-imports"]
UPLOADS: dict[str, Pairs] = {
    "corpora": [("name", "Fourth pool"), ("file", FILES["corpus"])],
    "dataset-imports": [("name", "Yet more"), ("file", FILES["dataset"])],
    "models": [("name", "Of a file"), ("kind", "vectors"), ("file", FILES["texts"])],
    "rating-imports": [("dataset", "chats"), ("name", "More ratings"), ("file", FILES["ratings"])],
    "look": [("dataset", "chats"), ("name", "More ratings"), ("file", FILES["ratings"])],
    "import": [("dataset", "chats"), ("name", "Theirs"), ("file", FILES["weights"])],
    "score-imports": [("dataset", "chats"), ("name", "Mine"), ("file", FILES["scores"])],
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
                example = _of_longest(examples, address)
                if example is None:
                    raise LookupError(f"No body for {method} {template}; add one to BODIES.")
                yield Valid(method.upper(), address, example, "json")
            if "multipart/form-data" in content:
                yield Valid(method.upper(), address, _of_longest(UPLOADS, address) or [], "files")
            if not content:
                yield Valid(method.upper(), address)


def _of_longest(examples: Mapping[str, Any], address: str) -> Any:
    words = [word for word in address.strip("/").split("/") if not word.isdecimal()]
    fitting = [name for name in examples if words[-len(name.split("/")) :] == name.split("/")]
    return examples[max(fitting, key=len)] if fitting else None
