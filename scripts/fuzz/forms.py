"""Links and forms of the pages themselves."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from scripts.fuzz.bodies import FILES, Pairs, Valid, Value

PAGES = 900  # that are looked through for links and forms
ALIKE = 2  # pages of one route with the same names in the query
TYPED = {
    "number": "1",
    "email": "a@example.org",
    "url": "https://example.org/",
    "date": "2026-01-02",
    "password": "password",
    "text": "Some words",
    "textarea": "Some words, and more.",
}
KIND_OF_FILE = {
    "rating-imports": "ratings",
    "references": "weights",
    "runs": "scores",
    "corpora": "corpus",
    "models": "texts",
    "campaigns": "json",
}


class Form:
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


class Page(HTMLParser):
    """What a page offers: links, addresses that its script requests, and forms with the values they show."""

    def __init__(self, address: str, *, fills: bool = True) -> None:
        super().__init__()
        self.fills = fills  # empty fields
        self.address, self.links = address, []  # type: tuple[str, list[str]]
        self.requests: list[tuple[str, str, Form | None]] = []
        self.forms: list[Form] = []
        self.by_id: dict[str, Form] = {}
        self.form: Form | None = None
        self.select: tuple[Form, str, list[str], list[str]] | None = None
        self.area: tuple[Form, str] | None = None
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form = Form(attributes, self.address)
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

    def _field(self, tag: str, form: Form, name: str, attributes: dict[str, str]) -> None:
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
            form.add(name, self.text.removeprefix("\n") or (TYPED["textarea"] if self.fills else ""))
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
        page = Page(address)
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


def _valid(method: str, address: str, form: Form | None, role: str) -> Valid:
    if form is None:
        return Valid(method, address, role=role)
    if method == "GET":
        texts = [(name, value) for name, value in form.pairs if isinstance(value, str)]
        return Valid(method, f"{urlsplit(address).path}?{urlencode(texts)}", options=form.options, role=role)
    return Valid(method, address, list(form.pairs), form.kind, form.options, tuple(form.buttons), role)
