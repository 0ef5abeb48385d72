"""The JSON Schema of a study's specification, made from its fields, so that it can say nothing else."""

from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

from correlations.specification import NOT_REQUESTED, Specification
from correlations.stats.coefficients.registry import COEFFICIENTS
from metrics.scoring.registry import METRICS

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILENAME = "study-specification.schema.json"
TITLE = "Specification of a study of metrics"
DESCRIPTION = (
    "What the page for a new study, POST …/studies/ (as `specification`) and `manage.py study` take. What is left out "
    "takes its default; the same specification of the same data has the same signature everywhere."
)
DATASETS = (
    "One study over several data sets: for each what it has by itself, such as campaigns, systems and release, which "
    "wins over what stands beside this list and is shared."
)
NAMES: Schema = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def specification_schema() -> Schema:
    """Return the schema; metrics that an installation adds are in it."""
    hints = get_type_hints(Specification)
    properties = {each.name: _property(each, hints[each.name]) for each in fields(Specification)}
    one_by_one = {name: {"$ref": f"#/properties/{name}"} for name in properties}
    of_one = {"type": "object", "properties": one_by_one, "additionalProperties": False}
    datasets = {"type": "array", "items": of_one, "minItems": 2, "description": DATASETS}
    return {
        "$schema": DIALECT,
        "title": TITLE,
        "description": DESCRIPTION,
        "type": "object",
        "properties": {
            **properties,
            "datasets": datasets,
            **{name: {"description": meaning} for name, meaning in NOT_REQUESTED.items()},
        },
        "anyOf": [{"required": list(Specification.NEEDED)}, {"required": ["datasets"]}],
        "additionalProperties": False,
    }


def metric_schemas(*, pools: bool = False) -> list[Schema]:
    """Return the ways to write a metric; those over one pool of outputs are listed with ``pools`` alone."""
    name = {"type": "string", "enum": [key for key, metric in METRICS.items() if pools or not metric.pools]}
    with_parameters = {
        "type": "object",
        "properties": {"name": name, "parameters": {"type": "object"}},
        "required": ["name"],
        "description": "Parameters may also stand beside the name.",
    }
    run = {
        "type": "object",
        "properties": {"run": {"type": "integer"}},
        "required": ["run"],
        "additionalProperties": False,
        "description": "The number of a run of imported scores.",
    }
    return [name, with_parameters, run]


def _property(each: Field[Any], hint: Any) -> Schema:
    described = {"description": Specification.MEANINGS[each.name]}
    # What the default of these is depends on the release or on the data.
    fitted = each.default is MISSING or each.name in ("metrics", "subsets", "pairs", "sweep_subset")
    default = {} if fitted or each.default is None else {"default": _plain(each.default)}
    return described | _kind(each.name, hint) | default


def _kind(name: str, hint: Any) -> Schema:
    if name in Specification.CHOICES:
        return {"type": "string", "enum": list(Specification.CHOICES[name])}
    if name in Specification.LIMITS:
        low, high = Specification.LIMITS[name]
        kind: Any = ["integer", "null"] if name in Specification.FITTED else "integer"
        return {"type": kind, "minimum": low, "maximum": high}
    if name in Specification.TEXTS or hint in (str, bool):
        return {"type": "boolean" if hint is bool else "string"}
    if name == "pairs":
        return {"type": "array", "items": NAMES | {"minItems": 2, "maxItems": 2}}
    if name == "metrics":
        return {"type": "array", "items": {"oneOf": metric_schemas()}, "minItems": 1}
    if name == "coefficients":
        return NAMES | {"items": {"enum": list(COEFFICIENTS)}, "minItems": 1}
    least = {"systems": 2, "campaigns": 1, "subsets": 1}.get(name, 0)
    return NAMES | ({"minItems": least} if least else {})


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
