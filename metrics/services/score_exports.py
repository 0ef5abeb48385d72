"""Runs, outputs and ratings of a data set in the file layout of mt-metrics-eval, streamed.

https://github.com/google-research/mt-metrics-eval#file-organization-and-naming-convention
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Avg

from annotation.core.numbers import finite_or_none
from annotation.core.zips import zip_chunks
from annotation.models import Campaign, Dataset, Item, JobState, ReleaseWeight, ResponseSource, System
from annotation.rating.selectors.ratings import current_ratings
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.scoring.registry import METRICS
from metrics.selectors.arrays import segment_items, segment_scores
from metrics.selectors.runs import metric_label, reads_references, run_metric
from metrics.services.score_files import DESCRIPTION
from metrics.subsets import Subset

Floats = npt.NDArray[np.float64]
Pieces = Iterable[bytes]

UNFIT = re.compile(r'[\s/\\:*?"<>|]+')  # in a name of a file, on one system or another
LINES = 1000  # a piece of a file
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
    """A zip of all finished runs of the data set, with its texts and ratings."""
    return zip_chunks(_Layout(dataset).members())


def score_text(value: float) -> str:
    """Such that reading it gives the same number to the last bit; None where it is undefined.

    Examples
    --------
    >>> score_text(0.1 + 0.2), score_text(float("nan"))
    ('0.30000000000000004', 'None')
    """
    return "None" if np.isnan(value) else repr(float(value))


def unique_names(names: Sequence[str]) -> list[str]:
    """Names of files: without spaces and what no file's name may hold, and no two alike.

    Examples
    --------
    >>> unique_names(["Team A", "Team_A", "Watch: B?"])
    ['Team_A', 'Team_A_2', 'Watch_B']
    """
    found: list[str] = []
    for name in names:
        plain = UNFIT.sub("_", name).strip("._") or "unnamed"
        number, made = 1, plain
        while made in found:
            number += 1
            made = f"{plain}_{number}"
        found.append(made)
    return found


class _Layout:
    """The files of one data set."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.set = dataset.slug
        items = list(Item.objects.filter(dataset=dataset).order_by("position").values_list("id", "message"))
        self.messages = [message for _, message in items]
        self.place = {pk: place for place, (pk, _) in enumerate(items)}
        systems = list(System.objects.filter(dataset=dataset).order_by("name"))
        self.systems = dict(zip([one.pk for one in systems], unique_names([one.name for one in systems]), strict=True))
        self.system_names = {self.systems[one.pk]: one.name for one in systems}
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
        metrics = {name: self._described(run) for name, run in zip(self.run_names, self.runs, strict=True)}
        return {"dataset": self.set, "systems": self.system_names, "metrics": metrics}

    @staticmethod
    def _described(run: ScoreRun) -> dict[str, Any]:
        metric = run_metric(run)
        told = {"label": metric_label(run), "run": run.pk, "metric": run.metric, "signature": run.signature}
        if metric is None:  # another package's, which is gone or takes other parameters now
            return told
        bounds = {"lowest": metric.low, "highest": metric.high}
        told |= {key: finite_or_none(bound) for key, bound in bounds.items()}
        told["lower_is_better"] = not metric.higher_is_better
        return told | ({"name": metric.label} if isinstance(metric, External) else {})

    def _outputs(self, system_id: int) -> Iterator[str]:
        """What the system said to each item; an empty line where it said nothing."""
        sources = ResponseSource.objects.filter(system=system_id)
        texts = dict(sources.values_list("item_id", "response__text"))
        return (_line(texts.get(pk, "")) for pk in self.place)

    def _references(self) -> Iterator[tuple[str, Pieces]]:
        """Those of the newest release that a run used, a file for the first of each item, one for the second, ..."""
        release = max((run.release_id for run in self.runs if run.release_id), default=None)
        rows = ReleaseWeight.objects.filter(release=release).order_by("response_id")
        texts: dict[int, list[str]] = {}
        for item, text in rows.values_list("item_id", "response__text"):
            texts.setdefault(item, []).append(_line(text))
        for number in range(max(map(len, texts.values()), default=0)):
            column = ((texts.get(pk, [])[number : number + 1] or [""])[0] for pk in self.place)
            yield f"{self.set}/references/{self.set}.ref{number + 1}.txt", _lines(column)

    def _segment_lines(self, run: ScoreRun) -> Iterator[str]:
        places = [self.place[pk] for pk in segment_items(run).tolist()]
        for score in run.scores.order_by("position"):
            row = np.full(len(self.place), np.nan)
            row[places] = segment_scores(run, score.position)
            yield from (f"{self.systems[score.system_id]}\t{score_text(value)}" for value in row.tolist())

    def _system_lines(self, run: ScoreRun) -> Iterator[str]:
        for score in run.scores.order_by("position"):
            yield f"{self.systems[score.system_id]}\t{score_text(np.nan if score.score is None else score.score)}"

    def _human_scores(self) -> Iterator[tuple[str, Pieces]]:
        campaigns = list(Campaign.objects.filter(dataset=self.dataset).order_by("pk"))
        rated = [(campaign, self._means(campaign)) for campaign in campaigns]
        often = Counter(criterion for _, means in rated for criterion in means)
        pairs = [(criterion, campaign.name, own) for campaign, means in rated for criterion, own in means.items()]
        names = [criterion if often[criterion] == 1 else f"{criterion}.{campaign}" for criterion, campaign, _ in pairs]
        for name, (_, _, own) in zip(unique_names(names), pairs, strict=True):
            file = f"{self.set}/human-scores/{self.set}.{name}"
            yield f"{file}.seg.score", _lines(_human_lines(own))
            means = {system: row[np.isfinite(row)] for system, row in own.items()}
            yield f"{file}.sys.score", _lines(f"{name}\t{score_text(row.mean())}" for name, row in means.items())

    def _means(self, campaign: Campaign) -> dict[str, dict[str, Floats]]:
        """By criterion and system, (S,) means over raters; NaN where nobody rated."""
        rated = current_ratings([campaign]).order_by().values("criterion__name", "response_id")
        means: dict[int, list[tuple[str, float]]] = {}
        for one in rated.annotate(mean=Avg("value")):
            means.setdefault(one["response_id"], []).append((one["criterion__name"], one["mean"]))
        said = ResponseSource.objects.filter(response__in=means, system__in=self.systems)
        found: dict[str, dict[str, Floats]] = {}
        for system, item, response in said.order_by("system__name").values_list("system_id", "item_id", "response_id"):
            for criterion, mean in means[response]:
                rows = found.setdefault(criterion, {})
                row = rows.setdefault(self.systems[system], np.full(len(self.place), np.nan))
                row[self.place[item]] = mean
        return dict(sorted(found.items()))


def run_names(runs: Sequence[ScoreRun]) -> list[str]:
    """The metric, which references unless all (``bleu.original``, ``bleu.w_above_0``), and what runs that would be
    called alike differ in: release and parameters (``bleu.order_4``).
    """
    named = [f"{_plain_name(run)}{_subset_words(run)}" for run in runs]
    alike: dict[str, list[ScoreRun]] = {}
    for name, run in zip(named, runs, strict=True):
        alike.setdefault(name, []).append(run)
    return [name + _difference_words(run, alike[name]) for name, run in zip(named, runs, strict=True)]


def _subset_words(run: ScoreRun) -> str:
    """A file's name holds no < and no >."""
    subset = Subset.from_mapping(run.subset) if reads_references(run) else Subset()
    written = str(subset).replace(">=", "_from_").replace(">", "_above_")
    words = f".{written}" if subset.kind != "all" else ""
    return words if subset.items == "referenced" else f"{words}.{subset.items}_items"


def _difference_words(run: ScoreRun, alike: Sequence[ScoreRun]) -> str:
    metric = METRICS.get(run.metric)
    parameters = metric.parameter_list() if metric and metric is not External else ()
    values = {one.name: {str(other.parameters.get(one.name, one.default)) for other in alike} for one in parameters}
    words = [
        f".{one.key}_{one.written(run.parameters.get(one.name, one.default))}"
        for one in parameters
        if len(values[one.name]) > 1
    ]
    if run.release and len({one.release_id for one in alike}) > 1:
        words.insert(0, f".{run.release.reference_set.slug}_v{run.release.number}")
    return "".join(words)


def _plain_name(run: ScoreRun) -> str:
    """Without the ending that says which references: that is added to every name alike."""
    name = run.parameters["scorer"] if run.metric == External.name else run.metric
    return re.sub(r"-(src|all)$", "", str(name))


def _human_lines(rows: Mapping[str, Floats]) -> Iterator[str]:
    for system, row in rows.items():
        yield from (f"{system}\t{score_text(value)}" for value in row.tolist())


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _lines(lines: Iterable[str]) -> Iterator[bytes]:
    """Many lines a piece."""
    held: list[str] = []
    for line in lines:
        held.append(line)
        if len(held) == LINES:
            yield ("\n".join(held) + "\n").encode()
            held = []
    if held:
        yield ("\n".join(held) + "\n").encode()
