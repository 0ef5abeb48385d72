"""Export runs, outputs and ratings of a data set in the file layout of mt-metrics-eval, streamed.

https://github.com/google-research/mt-metrics-eval#file-organization-and-naming-convention
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Avg

from annotation.core.exports import gathered
from annotation.core.numbers import finite_or_none
from annotation.core.zips import zip_chunks
from annotation.models import Campaign, Dataset, Item, JobState, ReleaseWeight, ResponseSource, System
from annotation.rating.selectors.ratings import current_ratings
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.scoring.registry import METRICS
from metrics.selectors.arrays import segment_items, segment_scores
from metrics.selectors.corpus import plain_responses
from metrics.selectors.runs import metric_label, plain_kinds_of, reads_references, run_metric
from metrics.services.score_archives import DESCRIPTION
from metrics.subsets import Subset

Floats = npt.NDArray[np.float64]
Pieces = Iterable[bytes]

NOT_IN_FILENAMES = re.compile(r'[\s/\\:*?"<>|]+')
README = """\
Scores, outputs and ratings in the file layout of mt-metrics-eval
(https://github.com/google-research/mt-metrics-eval), written by Assay.

sources, references, system-outputs: a line for each item, in the data set's order; line breaks within are spaces.
metric-scores: NAME.seg.score has a line "system<TAB>score" for each system and item, NAME.sys.score one for each
system. None: undefined, or not scored. The ending -all or -src of a name: with references, or without.
human-scores: means over raters, and of those over the items.
metrics.json: what the names stand for, with each run's signature, direction and range; read again at an import.
"""


def archive_chunks(dataset: Dataset) -> Iterator[bytes]:
    """Yield a zip of all finished runs of the data set, with its texts and ratings."""
    return zip_chunks(_Layout(dataset).members())


def score_text(value: float) -> str:
    """Return a number's text, which reads back as the same number to the last bit; None if it is undefined.

    Examples
    --------
    >>> score_text(0.1 + 0.2), score_text(float("nan"))
    ('0.30000000000000004', 'None')
    """
    return "None" if np.isnan(value) else repr(float(value))


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names for files: different ones, without spaces and characters that file names cannot hold.

    Examples
    --------
    >>> unique_names(["Team A", "Team_A", "Watch: B?"])
    ['Team_A', 'Team_A_2', 'Watch_B']
    """
    unique: list[str] = []
    for name in names:
        plain = NOT_IN_FILENAMES.sub("_", name).strip("._") or "unnamed"
        candidates = itertools.chain([plain], (f"{plain}_{number}" for number in itertools.count(2)))
        unique.append(next(candidate for candidate in candidates if candidate not in unique))
    return unique


class _Layout:
    """The files of one data set."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.set = dataset.slug
        items = list(Item.objects.filter(dataset=dataset).order_by("position").values_list("id", "message"))
        self.messages = [message for _, message in items]
        self.index = {pk: index for index, (pk, _) in enumerate(items)}
        systems = list(System.objects.filter(dataset=dataset).order_by("name"))
        names = unique_names([system.name for system in systems])
        self.systems = {system.pk: name for system, name in zip(systems, names, strict=True)}
        self.system_names = {name: system.name for system, name in zip(systems, names, strict=True)}
        runs = ScoreRun.objects.filter(dataset=dataset, state=JobState.DONE).order_by("pk")
        self.runs = list(runs.select_related("release__reference_set"))
        endings = ["all" if reads_references(run) else "src" for run in self.runs]
        names = unique_names(run_names(self.runs))
        self.run_names = [f"{name}-{ending}" for name, ending in zip(names, endings, strict=True)]

    def members(self) -> Iterator[tuple[str, Pieces]]:
        yield f"{self.set}/README.txt", [README.encode()]
        yield f"{self.set}/{DESCRIPTION}", [json.dumps(self._description(), ensure_ascii=False, indent=1).encode()]
        yield f"{self.set}/sources/{self.set}.txt", _lines(map(_line, self.messages))
        yield f"{self.set}/documents/{self.set}.docs", _lines(f"all {number}" for number in range(len(self.messages)))
        yield from self._references()
        for pk, name in self.systems.items():
            yield f"{self.set}/system-outputs/{self.set}/{name}.txt", _lines(self._outputs(pk))
        for run, name in zip(self.runs, self.run_names, strict=True):
            folder = f"{self.set}/metric-scores/{self.set}"
            if run.report.get("items"):
                yield f"{folder}/{name}.seg.score", _lines(self._segment_lines(run))
            yield f"{folder}/{name}.sys.score", _lines(self._system_lines(run))
        yield from self._human_scores()

    def _description(self) -> dict[str, Any]:
        metrics = {name: _metric_description(run) for name, run in zip(self.run_names, self.runs, strict=True)}
        return {"dataset": self.set, "systems": self.system_names, "metrics": metrics}

    def _outputs(self, system_id: int) -> Iterator[str]:
        """Yield the system's output for each item; an empty line if there is none."""
        sources = ResponseSource.objects.filter(system=system_id)
        texts = dict(sources.values_list("item_id", "response__text"))
        return (_line(texts.get(pk, "")) for pk in self.index)

    def _references(self) -> Iterator[tuple[str, Pieces]]:
        """Yield the newest release used by a run, or the data set's own references if runs used no release.

        One file has each item's first reference, one its second, ...
        """
        release = max((run.release_id for run in self.runs if run.release_id), default=None)
        plain = [kinds for run in self.runs if (kinds := plain_kinds_of(run))]
        rows: Iterable[tuple[int, str]] = ()
        if release is not None:
            of_release = ReleaseWeight.objects.filter(release=release).order_by("response_id")
            rows = of_release.values_list("item_id", "response__text")
        elif plain:
            rows = plain_responses(list(self.index), plain[-1]).values_list("item_id", "text")
        texts: dict[int, list[str]] = {}
        for item, text in rows:
            texts.setdefault(item, []).append(_line(text))
        for number in range(max(map(len, texts.values()), default=0)):
            column = ((texts.get(pk, [])[number : number + 1] or [""])[0] for pk in self.index)
            yield f"{self.set}/references/{self.set}.ref{number + 1}.txt", _lines(column)

    def _segment_lines(self, run: ScoreRun) -> Iterator[str]:
        indices = [self.index[pk] for pk in segment_items(run).tolist()]
        for score in run.scores.order_by("position"):
            row = np.full(len(self.index), np.nan)
            row[indices] = segment_scores(run, score.position)
            yield from (f"{self.systems[score.system_id]}\t{score_text(value)}" for value in row.tolist())

    def _system_lines(self, run: ScoreRun) -> Iterator[str]:
        for score in run.scores.order_by("position"):
            yield f"{self.systems[score.system_id]}\t{score_text(np.nan if score.score is None else score.score)}"

    def _human_scores(self) -> Iterator[tuple[str, Pieces]]:
        campaigns = list(Campaign.objects.filter(dataset=self.dataset).order_by("pk"))
        tables = [(name, campaign.name, rows) for campaign in campaigns for name, rows in self._means(campaign).items()]
        uses = Counter(criterion for criterion, _, _ in tables)
        names = [criterion if uses[criterion] == 1 else f"{criterion}.{campaign}" for criterion, campaign, _ in tables]
        for name, (_, _, rows) in zip(unique_names(names), tables, strict=True):
            file = f"{self.set}/human-scores/{self.set}.{name}"
            yield f"{file}.seg.score", _lines(_human_lines(rows))
            means = {system: score_text(row[np.isfinite(row)].mean()) for system, row in rows.items()}
            yield f"{file}.sys.score", _lines(f"{system}\t{mean}" for system, mean in means.items())

    def _means(self, campaign: Campaign) -> dict[str, dict[str, Floats]]:
        """Return by criterion and system the (S,) means over raters; NaN for an unrated item."""
        rated = current_ratings([campaign]).order_by().values("criterion__name", "response_id")
        means: dict[int, list[tuple[str, float]]] = {}
        for row in rated.annotate(mean=Avg("value")):
            means.setdefault(row["response_id"], []).append((row["criterion__name"], row["mean"]))
        outputs = ResponseSource.objects.filter(response__in=means, system__in=self.systems).order_by("system__name")
        tables: dict[str, dict[str, Floats]] = {}
        for system, item, response in outputs.values_list("system_id", "item_id", "response_id"):
            for criterion, mean in means[response]:
                rows = tables.setdefault(criterion, {})
                scores = rows.setdefault(self.systems[system], np.full(len(self.index), np.nan))
                scores[self.index[item]] = mean
        return dict(sorted(tables.items()))


def _metric_description(run: ScoreRun) -> dict[str, Any]:
    metric = run_metric(run)
    description = {"label": metric_label(run), "run": run.number, "metric": run.metric, "signature": run.signature}
    if metric is None:  # of a package that is gone, or takes other parameters now
        return description
    description |= {"lowest": finite_or_none(metric.low), "highest": finite_or_none(metric.high)}
    description["lower_is_better"] = not metric.higher_is_better
    return description | ({"name": metric.label} if isinstance(metric, External) else {})


def run_names(runs: Sequence[ScoreRun]) -> list[str]:
    """Return the metrics' names with their references unless all (``bleu.original``, ``bleu.w_above_0``).

    Runs of the same name get what they differ in: release and parameters (``bleu.order_4``).
    """
    names = [f"{_plain_name(run)}{_subset_suffix(run)}" for run in runs]
    by_name: dict[str, list[ScoreRun]] = {}
    for name, run in zip(names, runs, strict=True):
        by_name.setdefault(name, []).append(run)
    return [name + _difference_suffix(run, by_name[name]) for name, run in zip(names, runs, strict=True)]


def _subset_suffix(run: ScoreRun) -> str:
    """Return the subset without < and >, which file names cannot hold."""
    subset = Subset.from_mapping(run.subset) if reads_references(run) else Subset()
    text = str(subset).replace(">=", "_from_").replace(">", "_above_")
    suffix = f".{text}" if subset.kind != "all" else ""
    return suffix if subset.items == "referenced" else f"{suffix}.{subset.items}_items"


def _difference_suffix(run: ScoreRun, same_name: Sequence[ScoreRun]) -> str:
    metric = METRICS.get(run.metric)
    parts = []
    if run.release and len({other.release_id for other in same_name}) > 1:
        parts.append(f".{run.release.reference_set.slug}_v{run.release.number}")
    for parameter in metric.parameter_list() if metric and metric is not External else ():
        name, default = parameter.name, parameter.default
        if len({str(other.parameters.get(name, default)) for other in same_name}) > 1:
            parts.append(f".{parameter.key}_{parameter.written(run.parameters.get(name, default))}")
    return "".join(parts)


def _plain_name(run: ScoreRun) -> str:
    """Return the name without a suffix for the references: every name gets one."""
    name = run.parameters["scorer"] if run.metric == External.name else run.metric
    return re.sub(r"-(src|all)$", "", str(name))


def _human_lines(rows: Mapping[str, Floats]) -> Iterator[str]:
    for system, row in rows.items():
        yield from (f"{system}\t{score_text(value)}" for value in row.tolist())


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _lines(lines: Iterable[str]) -> Iterator[bytes]:
    return gathered(f"{line}\n" for line in lines)
