"""Draw requests: most nearly right, some wild; a seed and a number repeat them."""

import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from scripts.fuzz.bodies import Pairs, Valid, encoded

ROLES = ("", "rater", "viewer", "manager", "owner")
# How often each caller sends what was found as the owner.
WEIGHTS = (1, 1, 3, 6, 9)
METHODS = ("GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE")
NAMES = (
    *("cursor", "page_size", "page", "search", "q", "next", "before", "after", "from", "kind", "item", "order"),
    *("name", "format", "metric", "system", "criterion", "view", "part"),
)

TEXTS = (
    "",
    "0",
    "-1",
    "1",
    "10",
    "1.5",
    "NaN",
    "1e999",
    "-Infinity",
    "true",
    "null",
    "[]",
    "{}",
    str(2**31),
    str(2**63),
    "9" * 30,
    "9" * 5000,
    "\0",
    "a\0b",
    "\ud800",
    "\U0001f600",
    "٣",
    "²",
    "../../etc/passwd",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "%s%n{0}",
    "a" * 10_000,
    "[" * 5000,
    '{"a":' * 5000,
    "2024-13-45",
    "cD16ZWJyYQ==",
    "2**3",
    "http://[",
)
RAW_JSON = (
    "[" * 100_000,
    '{"a":' * 100_000,
    '"\\ud800"',
    '{"name": 1e999}',
    "",
    "[",
    "nul",
    "\xff",
    '{"name":' + "9" * 5000 + "}",
)


# The value of the API's world for a page's parameter, by what stands before it in the address.
BEFORE = {
    "campaigns/": "campaign_pk",
    "imports/": "dataset_import_pk",
    "rating-imports/": "rating_import_pk",
    "items/": "item_pk",
    "models/": "model_pk",
    "responses/": "response_pk",
    "runs/": "score_run_pk",
    "studies/": "study_pk",
    "parameter-studies/": "parameter_study_pk",
    "select/": "seed_selecting_pk",
    "deletions/": "deletion_pk",
    "lists/": "list_pk",
    "corpora/": "corpus_slug",
    "mining/": "mining_run_pk",
    "references/": "reference_set_slug",
    "in/": "link_token",
    "v": "release_number",
    "edit/": "step",
    "files/": "file_name",
    "apply/": "rules_version",
}
FURTHER = {
    "step": "screen",
    "number": "1",
    "row": "1",
    "rater": "1",
    "version": "1",
    "kind": "gold",
    "provider": "prolific",
}


HEADERS = (
    ("HTTP_ACCEPT", ("application/json", "text/html", "*/*;q=x", "a/b; c*=d''%41", "," * 5000, "\xff")),
    ("HTTP_ACCEPT_LANGUAGE", ("de", "xx-" * 900, "en;q=nan", "\xff")),
    ("HTTP_AUTHORIZATION", ("Token x", "Token", "Token a b", "Basic \xff", "Bearer " + "9" * 5000)),
    ("HTTP_COOKIE", ("sessionid=" + "a" * 5000, "csrftoken=\x00", "messages=W10:x", "=;=;", "a=\xff")),
    ("HTTP_HX_REQUEST", ("true",)),
    ("HTTP_HX_CURRENT_URL", ("http://[", "\xff", "a" * 5000)),
    ("HTTP_IF_MODIFIED_SINCE", ("Thu, 99 Foo 0000 99:99:99 GMT", "0")),
    ("HTTP_IF_NONE_MATCH", ("*", '"', "W/" * 900)),
    ("HTTP_RANGE", ("bytes=0-0", "bytes=9-1", "bytes=-" + "9" * 400)),
    ("HTTP_REFERER", ("http://[", "javascript:alert(1)", "\xff")),
    ("HTTP_X_FORWARDED_FOR", ("", "a" * 5000, "::1, 999.1.1.1")),
    ("CONTENT_LENGTH", ("", "-1", "1", "x")),
    (
        "CONTENT_TYPE",
        ("", "multipart/form-data", "text/plain; charset=base64", "application/json; charset=utf-16", ";"),
    ),
    ("HTTP_X_CSRFTOKEN", ("", "\xff", "c" * 64)),
)


class Route(NamedTuple):
    template: str
    names: tuple[str, ...]


class Request(NamedTuple):
    method: str
    address: str
    body: bytes
    content_type: str
    role: str
    headers: Mapping[str, str]


def routes() -> Iterator[Route]:
    """Yield every route of the URL map; those of the API's schema are among them."""
    from django.urls import get_resolver

    yield from _routes(get_resolver(), "")


def _routes(resolver: Any, prefix: str) -> Iterator[Route]:
    from django.urls import URLPattern

    for each in resolver.url_patterns:
        path = prefix + str(each.pattern)
        if not isinstance(each, URLPattern):
            yield from _routes(each, path)
        elif "(?" not in path:
            names = tuple(part.split(">")[0].split(":")[-1] for part in path.split("<")[1:])
            yield Route(path.replace("^", "").replace("$", ""), names)


def json_value(chance: random.Random, depth: int = 0) -> Any:
    roll = chance.random()
    if depth < 3 and roll < 0.15:
        return [json_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if depth < 3 and roll < 0.3:
        return {chance.choice(NAMES): json_value(chance, depth + 1) for _ in range(chance.randrange(4))}
    return chance.choice((None, True, -1, 0, 1, 2**31, 2**63, 10**30, 1.5, chance.choice(TEXTS), chance.choice(TEXTS)))


class Known(NamedTuple):
    """What requests are made from."""

    valid: Sequence[Sequence[Valid]]  # forms, operations of the API, links
    routes: Sequence[Route]
    values: Mapping[str, Any]
    fields: Sequence[str]


def request_of(chance: random.Random, known: Known) -> Request:
    """Draw a request: a form, an operation of the API, a link, or a wild one."""
    (which,) = chance.choices(range(4), (7, 4, 5, 3))
    if which == len(known.valid):
        request = _wild(chance, known)
    else:
        roles = [each.role for each in known.valid[which]]
        (role,) = chance.choices(("owner", "rater", ""), (12, 2, 1))
        fitting = [each for each in known.valid[which] if each.role == (role if role in roles else "owner")]
        request = _nearly_right(chance, chance.choice(fitting), known.fields)
    if chance.random() < 0.1:
        name, values = chance.choice(HEADERS)
        request = request._replace(headers={name: chance.choice(values)})
    return request


def _nearly_right(chance: random.Random, valid: Valid, fields: Sequence[str]) -> Request:
    """Return a valid request of which nothing, a value or a few are damaged."""
    (n_damaged,) = chance.choices((0, 1, 2, 4), (7, 8, 3, 2))
    (role,) = chance.choices(ROLES, WEIGHTS) if valid.role == "owner" else (valid.role,)
    address, body = valid.address, copy.deepcopy(valid.body)
    if valid.kind in ("form", "files"):
        for name, values in valid.options.items():
            if len(values) > 1 and chance.random() < 0.1:
                body = [pair for pair in body if pair[0] != name] + [(name, chance.choice(values))]
        if valid.buttons:
            body.append(chance.choice(valid.buttons))
    for _ in range(n_damaged):
        if body is None or chance.random() < 0.1:
            address = _damaged_query(chance, address, fields)
        elif valid.kind == "json":
            body = _damaged_json(chance, body, fields)
        else:
            _damage_pairs(chance, body, fields)
    content, content_type = (b"", "") if body is None else encoded(body, valid.kind)
    if valid.kind == "json" and chance.random() < 0.03:
        content = chance.choice(RAW_JSON).encode("utf-8", "surrogatepass")
    return Request(valid.method, address, content, content_type, role, {})


def _damage_pairs(chance: random.Random, pairs: Pairs, fields: Sequence[str]) -> None:
    if not pairs or chance.random() < 0.1:
        pairs.append((chance.choice(fields), chance.choice(TEXTS)))
        return
    index = chance.randrange(len(pairs))
    name, value = pairs[index]
    match chance.randrange(6):
        case 0:
            del pairs[index]
        case 1:
            pairs.append((name, chance.choice(TEXTS)))
        case 2 if isinstance(value, tuple):
            pairs[index] = name, (chance.choice(("x", "x.csv", "x.jsonl", "x.zip")), bytes(chance.randbytes(200)))
        case _:
            pairs[index] = name, chance.choice(TEXTS)


def _damaged_json(chance: random.Random, value: Any, fields: Sequence[str]) -> Any:
    """Return the value with one part at any depth replaced, left out or added."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        name = chance.choice(sorted(value))
        roll = chance.random()
        if roll < 0.12:
            return {each: held for each, held in value.items() if each != name}
        if roll < 0.24:
            return value | {chance.choice([*fields, *TEXTS]): json_value(chance)}
        return value | {name: _damaged_json(chance, value[name], fields)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        index = chance.randrange(len(value))
        if chance.random() < 0.2:
            return value * chance.choice((0, 2, 300))
        return [*value[:index], _damaged_json(chance, value[index], fields), *value[index + 1 :]]
    return json_value(chance)


def _damaged_query(chance: random.Random, address: str, fields: Sequence[str]) -> str:
    parts = urlsplit(address)
    pairs: list[tuple[str, str]] = parse_qsl(parts.query, keep_blank_values=True)
    if pairs and chance.random() < 0.7:
        index = chance.randrange(len(pairs))
        pairs[index] = pairs[index][0], chance.choice(TEXTS)
    else:
        pairs.append((chance.choice([*NAMES, *fields]), chance.choice(TEXTS)))
    return parts._replace(query=urlencode(pairs, errors="surrogatepass")).geturl()


def _wild(chance: random.Random, known: Known) -> Request:
    """Draw a route and any body. Most parts of the address are those of existing rows."""
    address, role = "/" + address_of(chance.choice(known.routes), known.values, chance), chance.choice(ROLES)
    for _ in range(chance.randrange(4)):
        address = _damaged_query(chance, address, known.fields)
    method = chance.choice(METHODS)
    names = chance.sample(known.fields, k=min(len(known.fields), chance.randrange(1, 8)))
    if chance.random() < 0.5:
        content, content_type = encoded({name: json_value(chance) for name in names}, "json")
        if chance.random() < 0.2:
            content = chance.choice(RAW_JSON).encode("utf-8", "surrogatepass")
    else:
        content, content_type = encoded([(name, chance.choice(TEXTS)) for name in names], "form")
    return Request(method, address, content, content_type, role, {})


def address_of(route: Route, values: Mapping[str, Any], chance: random.Random | None = None) -> str:
    """Return a route's address with the values of existing rows; with ``chance``, some values are not."""
    path, *parts = route.template.split("<")
    for part in parts:
        inner, after = part.split(">", 1)
        name = inner.split(":")[-1]
        before = f"{path.rsplit('/', 2)[-2]}/" if path.endswith("/") else path.rsplit("/", 1)[-1]
        value = values.get(name) or values.get(BEFORE.get(before, "")) or FURTHER.get(name) or "1"
        if chance is not None and chance.random() < 0.1:
            value = chance.choice(TEXTS)[:200] or "1"
        path += quote(str(value), safe="", errors="surrogatepass") + after
    return path
