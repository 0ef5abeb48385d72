"""Train models that metrics read, or register models that other programs made."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from annotation.management.base import (
    AssayCommand,
    add_member_arguments,
    member_and_project,
    progress_bar,
    row_by_name,
)
from annotation.models import JobState, SourceKind
from metrics.models import TrainedModel
from metrics.scoring.models.kinds import KINDS, RATED, TRAINABLE
from metrics.scoring.parameters import Parameter
from metrics.selectors.training_ratings import STATISTICS
from metrics.selectors.training_texts import CONTEXTS, MESSAGES, PARTS, RESPONSES, corpora_to_train_on
from metrics.services import training as services
from metrics.services.model_rows import ModelRequest
from metrics.services.quality_training import ChosenRatings, model_train_on_ratings

EPILOG = """\
examples:
  An LSA space of a data set's conversations, without texts that are outputs or references:
    manage.py train_metric_model --project demo --user manager --kind lsa --name "Conversations" \\
        --dataset dstc7 --texts messages --source-kind human --components 100

  A language model of a corpus, or of a file with one text per line (.gz, .zst):
    manage.py train_metric_model --project demo --user manager --kind language_model --name "Pool" \\
        --corpus pool --texts responses --order 3
    manage.py train_metric_model --project demo --user manager --kind language_model --name "News" \\
        --from-file news.txt.zst --order 3

  A quality estimator of a campaign's ratings, with predictions of the rated outputs by models that have not seen them:
    manage.py train_metric_model --project demo --user manager --kind quality --name "Relevance" \\
        --campaign "Output ratings" --criterion relevance --cross-validate --estimator ridge --source text

  Word vectors or an n-gram model of another program, a sentence encoder's folder:
    manage.py train_metric_model --project demo --user manager --kind vectors --name "GloVe" \\
        --register glove.6B.300d.txt.gz
    manage.py train_metric_model --project demo --user manager --kind sentence --name "MiniLM" \\
        --register ~/models/all-MiniLM-L6-v2

docs/metric-models.md describes the formats.
"""


def option_parameters() -> dict[str, list[tuple[str, Parameter]]]:
    """Return the kinds that take each option."""
    uses: dict[str, list[tuple[str, Parameter]]] = {}
    for kind in (*TRAINABLE, *RATED):
        for parameter in KINDS[kind].parameters:
            uses.setdefault(parameter.name, []).append((kind, parameter))
    return uses


class Command(AssayCommand):
    help = "Train a model that metrics read, or register one made elsewhere. The same training is done once."

    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_member_arguments(parser)
        parser.add_argument("--name", required=True, help="of the model; an existing name gets another version")
        parser.add_argument("--kind", required=True, choices=KINDS)
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--dataset", metavar="SLUG", help="train on texts of this data set")
        source.add_argument("--corpus", metavar="SLUG", help="train on texts of this corpus")
        source.add_argument("--from-file", type=Path, metavar="FILE", help="train on a file: one text per line")
        source.add_argument("--campaign", nargs="+", metavar="NAME", help="learn from the ratings of these campaigns")
        source.add_argument("--register", metavar="PATH", help="register the file or folder of a model")
        help_text = "messages, contexts; of a corpus also responses, which the next options choose of a data set"
        parser.add_argument("--texts", nargs="+", choices=PARTS, metavar="PART", help=help_text)
        kinds = [kind for kind in SourceKind.values if kind != SourceKind.SYSTEM]
        parser.add_argument("--source-kind", nargs="+", default=[], choices=kinds, help="responses of a data set")
        parser.add_argument("--source-system", nargs="+", default=[], metavar="NAME", help="outputs of a data set")
        parser.add_argument(
            "--criterion", nargs="+", default=[], metavar="NAME", help="of the campaigns; by default all"
        )
        help_text = "what an output's rating is of those of its raters (default: %(default)s)"
        parser.add_argument("--statistic", choices=list(STATISTICS), default="median", help=help_text)
        help_text = "store predictions of the rated outputs, by models that have not seen them, as a score run"
        parser.add_argument("--cross-validate", action="store_true", help=help_text)
        help_text = "also train on texts that are outputs or references here"
        parser.add_argument("--with-judged", action="store_true", help=help_text)
        for name, uses in option_parameters().items():
            self._add_option(parser, name, uses)
        parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")

    @staticmethod
    def _add_option(parser: ArgumentParser, name: str, uses: list[tuple[str, Parameter]]) -> None:
        kinds = ", ".join(kind for kind, _ in uses)
        parameter = uses[0][1]
        help_text = f"{parameter.label} of {kinds}; by default {parameter.default}".replace("%", "%%")
        flag = f"--{name.replace('_', '-')}"
        if parameter.kind == "flag":
            parser.add_argument(flag, dest=name, choices=("yes", "no"), help=help_text)
        else:
            numbers = {"whole": int, "real": float}
            parser.add_argument(flag, dest=name, type=numbers.get(parameter.kind, str), help=help_text)

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        keep_apart = not options["with_judged"]
        request = ModelRequest(project, user, options["name"], options["kind"], chosen_options(options), keep_apart)
        self._report(self._model(request, options), as_json=options["json"])

    def _model(self, request: ModelRequest, options: dict[str, Any]) -> TrainedModel:
        if options["register"]:
            with progress_bar() as progress:
                path = str(Path(options["register"]).expanduser())
                return services.model_register(request=request, path=path, progress=progress)
        if file := options["from_file"]:
            if not file.is_file():
                raise CommandError(f"--from-file: found no {file}; accepted: a file that can be read.")
            with progress_bar() as progress:
                return services.model_train_on_file(request=request, path=file, progress=progress)
        model = self._queued(request, options)
        with progress_bar(quiet=options["json"]) as progress:
            services.model_execute(model_id=model.pk, progress=progress)
        model.refresh_from_db()
        return model

    def _queued(self, request: ModelRequest, options: dict[str, Any]) -> TrainedModel:
        if names := options["campaign"]:
            campaigns = [row_by_name(request.project.campaigns, "--campaign", name, field="name") for name in names]
            chosen = ChosenRatings(campaigns, options["criterion"], options["statistic"])
            return model_train_on_ratings(request=request, ratings=chosen, cross_validate=options["cross_validate"])
        if options["corpus"]:
            corpus = row_by_name(corpora_to_train_on(request.project), "--corpus", options["corpus"])
            return services.model_train_on_corpus(request=request, corpus=corpus, texts=options["texts"] or [RESPONSES])
        if RESPONSES in (options["texts"] or ()):
            raise CommandError(
                "--texts: found responses of a data set; accepted: messages, contexts. Name its responses by "
                "--source-kind (such as human) or --source-system (such as a system's name)."
            )
        has_sources = options["source_kind"] or options["source_system"]
        return services.model_train_on_dataset(
            request=request,
            dataset=row_by_name(request.project.datasets, "--dataset", options["dataset"]),
            texts=options["texts"] or ([] if has_sources else [MESSAGES, CONTEXTS]),
            source_kinds=options["source_kind"],
            source_systems=options["source_system"],
        )

    def _report(self, model: TrainedModel, *, as_json: bool) -> None:
        if as_json:
            names = ("state", "error", "kind", "options", "reference", "size")
            document = {"model": f"{model.slug}/v{model.version}", "id": model.pk}
            document |= {name: getattr(model, name) for name in names} | model.report
            self.print_json(document)
        if model.state != JobState.DONE:
            raise CommandError(model.error)
        if not as_json:
            self.stdout.write(f"{model}: {model.kind_label}, {model.size:,} bytes, {model.report['seconds']} s")
            self.print_counts(report_lines(model.report), width=13)
            if validated := model.report.get("cross_validation"):
                self.stdout.write(agreement_line(validated))
            self.stdout.write(f"  {model.reference}")


def chosen_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the training options of the command line; the service refuses those that the kind does not take."""
    chosen = {name: options[name] for name in option_parameters() if options.get(name) is not None}
    return {name: {"yes": True, "no": False}.get(value, value) for name, value in chosen.items()}


def agreement_line(validated: dict[str, Any]) -> str:
    """Return how cross-validated predictions agree with the ratings."""
    pearson = "undefined" if validated["pearson"] is None else f"{validated['pearson']:.3f}"
    run = f", run {validated['run']}" if "run" in validated else ""
    return f"  Cross-validated, folds by {validated['together']}: r {pearson}, {validated['mae']:.3f} points off{run}"


def report_lines(report: dict[str, Any]) -> list[tuple[str, int]]:
    """Return labels and counts; counts of 0 are left out."""
    facts = report.get("model", {})
    shared = sum(row["outputs"] + row["references"] for row in report.get("overlap", []))
    lines = [
        ("Rated outputs", report.get("rated_outputs", 0)),
        ("Ratings of them", report.get("ratings", 0)),
        ("Texts trained on", report.get("texts", 0)),
        ("Words in them", report.get("words", 0)),
        ("Texts left out: empty", report.get("empty", 0)),
        ("Texts left out: repeated", report.get("repeated", 0)),
        ("Texts left out: outputs or references here", report.get("kept_apart", 0)),
        ("Vocabulary", facts.get("vocabulary", 0)),
        ("Dimensions", facts.get("dimensions", 0)),
        *((f"{n}-grams", count) for n, count in enumerate(facts.get("ngrams", []), start=1)),
    ]
    if shared and not report.get("kept_apart"):
        seen = (
            "Outputs here that it has seen" if "rated_outputs" in report else "trained on outputs and references here"
        )
        lines.append((f"WARNING: {seen}", shared))
    return [(label, count) for label, count in lines if count]
