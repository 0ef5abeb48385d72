"""The data card of a release, in Markdown: what is in it, how it was made, and its caveats."""

import json
import re
from collections.abc import Mapping
from itertools import chain, count
from typing import Any

from django.conf import settings

from annotation.core.markdown import plain
from annotation.core.numbers import decimals
from annotation.core.one_line import one_line
from annotation.models import Release, SourceKind
from annotation.references.releases.selectors.facts import (
    Agreement,
    fallen_seeds_of,
    raters_behind,
    recruitment_sentences,
    release_agreement,
    source_counts_of,
    split_counts,
)
from annotation.references.releases.selectors.releases import release_name, same_content
from annotation.references.weighing.selectors.guard import circularity
from annotation.weighting.schemes import SCHEMES

# The Hub's names of licences; a data set may write "CC BY-SA 4.0" or "Apache 2.0".
CREATIVE_COMMONS = ("by-4.0", "by-sa-4.0", "by-nc-4.0", "by-nc-sa-4.0", "by-3.0", "by-sa-3.0")
LICENCES = {
    **{name: name for name in ("cc0-1.0", "mit", "apache-2.0", "odc-by", "odbl", "gpl-3.0", "bsd-3-clause")},
    **{f"cc-{name}": f"cc-{name}" for name in CREATIVE_COMMONS},
    **{f"cc {' '.join(name.rsplit('-', 1))}": f"cc-{name}" for name in CREATIVE_COMMONS},
    "cc0": "cc0-1.0",
    "mit licence": "mit",
    "mit license": "mit",
    "apache 2.0": "apache-2.0",
}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
UNSPLIT = "unsplit"
LISTED = 20


def data_card(release: Release, *, for_hub: bool = False) -> str:
    """Return the card; ``for_hub`` begins with the front matter that shows `datasets` the file of each split."""
    reference_set = release.reference_set
    parts = [
        f"# {_plain_line(reference_set.name)} v{release.number}",
        *_warnings(release),
        *([plain(reference_set.description.strip())] if reference_set.description.strip() else []),
        _contents(release),
        *([_layout()] if for_hub else []),
        _making(release),
        *([] if release.is_imported else [_raters(release), _agreement_part(release_agreement(release))]),
        _caveats(release),
        _licence(release),
        _provenance(release),
    ]
    return (_front_matter(release) if for_hub else "") + "\n\n".join(parts) + "\n"


def split_name(split: str) -> str:
    """Return the name of a split for `datasets`: word characters, ``unsplit`` if empty, not `all`, which means all."""
    name = re.sub(r"\W+", "_", split).strip("_") or UNSPLIT
    return f"{name}_split" if name == "all" else name


def split_names(release: Release) -> dict[str, str]:
    """Return a different name for each split."""
    names: dict[str, str] = {}
    for split, _, _ in split_counts(release):
        base = split_name(split)
        numbered = (f"{base}_{number}" for number in count(2))
        names[split] = next(name for name in chain([base], numbered) if name not in names.values())
    return names


# --- Parts ------------------------------------------------------------------------------------------------------------


def _front_matter(release: Release) -> str:
    dataset = release.reference_set.dataset
    n_items = release.report["items"]["with_weight"]
    licence = LICENCES.get(dataset.licence.strip().lower())
    head: dict[str, Any] = {
        "pretty_name": f"{release.reference_set.name} v{release.number}",
        "language": [dataset.language.split("-")[0].lower()],
        "license": licence or ("other" if dataset.licence.strip() else "unknown"),
    }
    if dataset.licence.strip() and licence is None:
        head["license_name"] = one_line(dataset.licence)
    head |= {
        "task_categories": ["text-generation"],
        "tags": ["evaluation", "weighted-references", "delta-bleu"],
        "size_categories": [next((name for most, name in SIZES if n_items < most), "n>1M")],
        "configs": [
            {
                "config_name": "default",
                "data_files": [
                    {"split": name, "path": f"data/{name}-*.parquet"} for name in split_names(release).values()
                ],
            }
        ],
    }
    # JSON is YAML, on one line each.
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in head.items())
    return f"---\n{''.join(lines)}---\n\n"


def _warnings(release: Release) -> list[str]:
    warnings = []
    if release.deprecated_at is not None:
        day = release.deprecated_at.date().isoformat()
        warnings.append(f"> **Deprecated on {day}.** {_plain_line(release.deprecation_reason)}")
    if release.is_imported:
        warnings.append(
            "> **These weights were imported.** Their judgements are not stored: there are no histograms of ratings, "
            "and intervals and numbers of judgements only if the file had them."
        )
    return warnings


def _contents(release: Release) -> str:
    references, items = release.report["references"], release.report["items"]
    dataset = release.reference_set.dataset
    lines = [
        "## What is in it",
        "",
        (
            f"{references['weighted']:,} references of {items['with_weight']:,} items of the data set "
            f"“{_plain_line(dataset.name)}” (language: {dataset.language}), each with a weight in [−1, +1]: how good a "
            "response it is, by the judgement of people."
        ),
        "",
        *_table(("Weights", "References"), [(sign, references[sign]) for sign in ("positive", "zero", "negative")]),
        "",
        *_table(
            ("Split", "Items", "References"),
            [(split or "(none)", items, references) for split, items, references in split_counts(release)],
        ),
        "",
        *_table(("Source", "References"), [(_source(name), n) for name, n in source_counts_of(release)]),
        "",
        "A text that several sources share is one reference and counts for each of them.",
    ]
    return "\n".join(lines)


def _layout() -> str:
    return """## Layout

One row per item: `id`, `context` (turns, the oldest first), `message`, `meaning_representation`, `split`, and
`references`, a list of structures, highest weight first: `text`, `weight`, `mean` (of the judgements, on their scale),
`n` (judgements), `standard_error`, `low` and `high` (95% interval of the weight), `spread` (standard deviation of the
judgements), `histogram` (judgements at each point of the scale), `original`, `sources` (each with `kind`, `system`,
`rank`, `score`, and the `message` and `context` it was mined from).

    from datasets import load_dataset
    references = load_dataset("path/to/this/folder")"""


def _making(release: Release) -> str:
    lines = ["## How the weights were made", ""]
    if release.is_imported:
        about = release.report["imported"]
        lines.append(f"Imported from the file “{_plain_line(about['filename'])}” (SHA-256 `{about['sha256']}`).")
        if about.get("origin"):
            lines.append(f"Origin, as stated by the person who imported it: {_plain_line(about['origin'])}.")
        if about.get("release"):
            hashed = _code(about["content_hash"])
            lines.append(f"The file says it is the release {_code(about['release'])}, content hash {hashed}.")
        return "\n".join(lines)
    report = release.report
    scale = "a scale from {:g} to {:g}".format(*report["scale"]) if report["scale"] else "a scale without ends"
    if report.get("scales"):
        mapped = ", ".join(f"{_plain_line(name)} {ends}" for name, ends in report["scales"].items())
        scale += f" (scales differ, and the ends of each became -1 and +1 before they were averaged: {mapped})"
    campaigns = ", ".join(f"“{_plain_line(campaign['name'])}”" for campaign in report["campaigns"])
    ratings = report["ratings"]
    where = "the campaign" if len(report["campaigns"]) == 1 else "the campaigns"
    parameters = ", ".join(f"{name} = {value}" for name, value in sorted(release.parameters.items()))
    scheme = SCHEMES[release.method]
    lines += [
        (
            f"Method: **{release.method}** over {_plain_line(' and '.join(report['criteria']))}, judged on {scale} "
            f"in {where} {campaigns}. Parameters: {parameters}."
        ),
        "",
        f"{scheme.method}: `{scheme.formula}`.",
        "",
        f"{ratings['judgements']:,} judgements ({ratings['kept']:,} ratings) by {raters_behind(release)} count.",
        "",
        "What was left out, rule by rule, in this order:",
        "",
        *(f"- {_rule(excluded['rule'])}: {excluded['ratings']:,} ratings" for excluded in ratings["excluded"]),
    ]
    if ratings["incomplete_judgements"]:
        lines.append(f"- judgements that lack a criterion: {ratings['incomplete_judgements']:,}")
    return "\n".join(lines)


def _raters(release: Release) -> str:
    return "\n".join(["## Raters", "", *(f"- {_plain_line(sentence)}" for sentence in recruitment_sentences(release))])


def _agreement_part(agreement: Agreement) -> str:
    lines = ["## Agreement", ""]
    if agreement.alpha is None:
        lines.append(f"Krippendorff's alpha: undefined ({agreement.alpha_reason}).")
    else:
        alpha = _estimate(agreement.alpha, agreement.alpha_low, agreement.alpha_high)
        lines.append(f"Krippendorff's alpha ({agreement.level}): {alpha}, bootstrap over responses.")
    if agreement.icc_1 is None:
        lines.append(f"Intraclass correlation: undefined ({agreement.icc_reason}).")
    else:
        single = _estimate(agreement.icc_1, agreement.icc_1_low, agreement.icc_1_high)
        means = f"{_estimate(agreement.icc_k, agreement.icc_k_low, agreement.icc_k_high)} of means of"
        k = _number(agreement.k, 1)
        lines.append(f"One-way intraclass correlation: {single} of single judgements, {means} {k}.")
    lines += ["", "In brackets: 95% intervals."]
    return "\n".join(lines)


def _caveats(release: Release) -> str:
    items, references = release.report["items"], release.report["references"]
    without = items["without_positive"]
    lines = ["## Caveats", "", f"- Items without a reference of positive weight, so nothing to reward: {without:,}."]
    if without:
        listed = items["without_positive_listed"]
        more = " …" if without > LISTED else ""
        lines.append(f"  They are: {', '.join(map(_code, listed[:LISTED]))}{more}")
    lines.append(f"- Items with several best references: {items['tied_best']:,}.")
    if release.is_imported:
        lines.append(f"- {references['without_interval']:,} weights have no interval.")
    else:
        n_uncertain = references["interval_spans_zero"]
        if references["without_interval"] >= references["weighted"]:
            lines.append("- No weight has an interval.")
        else:
            lines.append(f"- {n_uncertain:,} weights have an interval that holds zero: their sign is uncertain.")
        for reason, n in references["without_weight"].items():
            lines.append(f"- {n:,} references of the set have no weight: {reason}.")
    if (fallen := fallen_seeds_of(release)) is not None:
        lines.append(
            f"- {len(fallen):,} seeds fell below the threshold they were selected by, on later ratings; they are "
            "still references."
        )
    lines += _circularity(release)
    lines.append(
        "- Weights are judgements of these raters about these responses in these conversations. Before comparing "
        "systems, check that no output of a system is among the references, and that the raters of the references did "
        "not also judge the systems."
    )
    return "\n".join(lines)


def _circularity(release: Release) -> list[str]:
    """Return what is now on both sides of a comparison of the data set's systems."""
    overlap = circularity(release, here=True)
    caveats = []
    if overlap.same:
        n = overlap.identical_references
        systems = ", ".join(f"{_plain_line(system.name)}: {system.same:,}" for system in overlap.systems if system.same)
        caveats.append(f"- {n:,} references are identical to an output of a system of the data set ({systems}).")
    if overlap.raters:
        n, n_all = len(overlap.raters), overlap.reference_raters
        caveats.append(f"- {n:,} of the {n_all:,} raters of the references also judged outputs of systems.")
    return caveats


def _licence(release: Release) -> str:
    dataset = release.reference_set.dataset
    lines = [
        "## Licence",
        "",
        f"Texts: {_plain_line(dataset.licence) or 'no licence is stated; ask the authors of the data set'}.",
    ]
    if release.is_imported and release.report["imported"].get("licence"):
        lines.append(f"Weights: {_plain_line(release.report['imported']['licence'])}.")
    if dataset.attribution.strip():
        lines += ["", _plain_line(dataset.attribution)]
    return "\n".join(lines)


def _provenance(release: Release) -> str:
    twin = same_content(release)
    lines = [
        "## Provenance",
        "",
        f"- Release: `{release_name(release)}` of the project `{release.reference_set.project.slug}`"
        + (f", with the same content as v{twin.number}" if twin else ""),
        f"- Content hash (SHA-256): `{release.content_hash}`",
        f"- Signature: {_code(release.signature)}",
        f"- Built by Assay {release.code_version}"
        + (f" on {release.finished_at.date().isoformat()}" if release.finished_at else ""),
        f"- Written by Assay {settings.VERSION}",
    ]
    return "\n".join(lines)


# --- Words ------------------------------------------------------------------------------------------------------------


def _table(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join(["---", *["---:"] * (len(header) - 1)]) + " |"]
    for row in rows:
        cells = [f"{cell:,}" if isinstance(cell, int) else _plain_line(str(cell)) for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _plain_line(text: str) -> str:
    return plain(one_line(text))


def _source(name: str) -> str:
    return str(dict(SourceKind.choices).get(name, name))


def _rule(rule: Mapping[str, Any]) -> str:
    parameters = ", ".join(
        f"{name} = {f'{len(value)} named' if isinstance(value, list) else value}"
        for name, value in rule.items()
        if name not in ("rule", "version")
    )
    return f"`{rule['rule']}`" + (f" ({parameters})" if parameters else "")


def _estimate(value: float | None, low: float | None, high: float | None) -> str:
    interval = f" [{_number(low)}, {_number(high)}]" if low is not None and high is not None else ""
    return f"{_number(value)}{interval}"


def _number(value: float | None, digits: int = 2) -> str:
    return "undefined" if value is None else decimals(value, digits)


def _code(text: object) -> str:
    """Return a text in more backticks than it contains in a row."""
    line = one_line(str(text))
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{fence}{line}{fence}" if not line.startswith("`") else f"{fence} {line} {fence}"
