"""Train models that metrics read, or take in those that were made elsewhere."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from django.core.management.base import BaseCommand

from annotation.management.base import member_and_project, progress_bar, refusing
from annotation.models import JobState, Project, SourceKind
from metrics.models import TrainedModel
from metrics.scoring.models.kinds import KINDS, TRAINABLE
from metrics.scoring.parameters import Parameter
from metrics.selectors.training_texts import CONTEXTS, MESSAGES, PARTS, RESPONSES, corpora_to_train_on
from metrics.services import training as services

EPILOG = """\
examples:
  An LSA space of a data set's conversations, without whatever is an output or a reference:
    manage.py train_metric_model --project demo --user manager --kind lsa --name "Conversations" \\
        --dataset dstc7 --texts messages --source-kind human --components 100

  A language model of a corpus, or of a file with a text a line (.gz, .zst):
    manage.py train_metric_model --project demo --user manager --kind language_model --name "Pool" \\
        --corpus pool --texts responses --order 3
    manage.py train_metric_model --project demo --user manager --kind language_model --name "News" \\
        --from-file news.txt.zst --order 3

  Word vectors or an n-gram model of another program, a sentence encoder's folder:
    manage.py train_metric_model --project demo --user manager --kind vectors --name "GloVe" \\
        --register glove.6B.300d.txt.gz
    manage.py train_metric_model --project demo --user manager --kind sentence --name "MiniLM" \\
        --register ~/models/all-MiniLM-L6-v2

The formats are described in docs/metric-models.md.
"""


def option_parameters() -> dict[str, list[tuple[str, Parameter]]]:
    """Each option with the kinds that take it: its name may mean the same of several."""
    found: dict[str, list[tuple[str, Parameter]]] = {}
    for kind in TRAINABLE:
        for parameter in KINDS[kind].parameters:
            found.setdefault(parameter.name, []).append((kind, parameter))
    return found


class Command(BaseCommand):
    help = "Train a model that metrics read, or register one that was made elsewhere. The same training is looked up."

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--user", required=True, help="username on whose behalf; a manager or owner of the project")
        parser.add_argument("--name", required=True, help="of the model; one that is there gets another version")
        parser.add_argument("--kind", required=True, choices=KINDS)
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--dataset", metavar="SLUG", help="train on texts of this data set")
        source.add_argument("--corpus", metavar="SLUG", help="train on texts of this corpus")
        source.add_argument("--from-file", type=Path, metavar="FILE", help="train on a file: one text a line, in UTF-8")
        source.add_argument("--register", metavar="PATH", help="take in a file or folder of a model as it is")
        parser.add_argument("--texts", nargs="+", choices=PARTS, help="messages and contexts; of a corpus, responses")
        kinds = [kind for kind in SourceKind.values if kind != SourceKind.SYSTEM]
        parser.add_argument("--source-kind", nargs="+", default=[], choices=kinds, help="responses of a data set")
        parser.add_argument("--source-system", nargs="+", default=[], metavar="NAME", help="outputs of a data set")
        parser.add_argument(
            "--with-judged", action="store_true", help="also train on texts that are outputs or references here"
        )
        for name, uses in option_parameters().items():
            self._add_option(parser, name, uses)
        parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")

    @staticmethod
    def _add_option(parser: ArgumentParser, name: str, uses: list[tuple[str, Parameter]]) -> None:
        kinds = ", ".join(kind for kind, _ in uses)
        parameter = uses[0][1]
        shown = f"{parameter.label} of {kinds}; by default {parameter.default}".replace("%", "%%")
        flag = f"--{name.replace('_', '-')}"
        if parameter.kind == "flag":
            parser.add_argument(flag, dest=name, choices=("yes", "no"), help=shown)
        else:
            numbers = {"whole": int, "real": float}
            parser.add_argument(flag, dest=name, type=numbers.get(parameter.kind, str), help=shown)

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        given = {"project": project, "by": user, "name": options["name"], "kind": options["kind"]}
        with refusing():
            model = self._made(given, project, options)
        self._tell(model, as_json=options["json"])

    def _made(self, given: dict[str, Any], project: Project, options: dict[str, Any]) -> TrainedModel:
        if options["register"]:
            with progress_bar() as progress:
                return services.model_register(
                    **given, path=str(Path(options["register"]).expanduser()), progress=progress
                )
        given |= {"options": chosen_options(options), "keep_apart": not options["with_judged"]}
        if options["from_file"]:
            path: Path = options["from_file"]
            if not path.is_file():
                raise CommandError(f"--from-file: found no {path}; accepted: a file that can be read.")
            with progress_bar() as progress:
                return services.model_train_on_file(**given, path=path, progress=progress)
        model = self._asked_for(given, project, options)
        with progress_bar(quiet=options["json"]) as progress:
            services.model_execute(model_id=model.pk, progress=progress)
        model.refresh_from_db()
        return model

    def _asked_for(self, given: dict[str, Any], project: Project, options: dict[str, Any]) -> TrainedModel:
        if options["corpus"]:
            corpora = {corpus.slug: corpus for corpus in corpora_to_train_on(project)}
            corpus = named("corpus", options["corpus"], corpora)
            return services.model_train_on_corpus(**given, corpus=corpus, texts=options["texts"] or [RESPONSES])
        dataset = named("dataset", options["dataset"], {one.slug: one for one in project.datasets.all()})
        chosen = options["texts"] or (
            [] if options["source_kind"] or options["source_system"] else [MESSAGES, CONTEXTS]
        )
        return services.model_train_on_dataset(
            **given,
            dataset=dataset,
            texts=chosen,
            source_kinds=options["source_kind"],
            source_systems=options["source_system"],
        )

    def _tell(self, model: TrainedModel, *, as_json: bool) -> None:
        if as_json:
            document = {
                "model": f"{model.slug}/v{model.version}",
                "id": model.pk,
                "state": model.state,
                "error": model.error,
                "kind": model.kind,
                "options": model.options,
                "reference": model.reference,
                "size": model.size,
                **model.report,
            }
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
        if model.state != JobState.DONE:
            raise CommandError(model.error)
        if not as_json:
            self.stdout.write(f"{model}: {model.kind_label}, {model.size:,} bytes, {model.report['seconds']} s")
            for what, count in report_lines(model.report):
                self.stdout.write(f"{count:>13,}  {what}")
            self.stdout.write(f"  {model.reference}")


def named(option: str, slug: str, rows: dict[str, Any]) -> Any:
    if slug not in rows:
        raise CommandError(f"--{option}: found {slug!r}; accepted: {', '.join(rows) or 'none yet'}.")
    return rows[slug]


def chosen_options(options: dict[str, Any]) -> dict[str, Any]:
    """Those given on the command line; the service refuses one that the kind does not take."""
    given = {name: options[name] for name in option_parameters() if options.get(name) is not None}
    return {name: {"yes": True, "no": False}.get(value, value) for name, value in given.items()}


def report_lines(report: dict[str, Any]) -> list[tuple[str, int]]:
    """(what, how many), as far as there was any."""
    facts = report.get("model", {})
    shared = sum(row["outputs"] + row["references"] for row in report.get("overlap", []))
    lines = [
        ("Texts trained on", report.get("texts", 0)),
        ("Words in them", report.get("words", 0)),
        ("Texts left out: empty", report.get("empty", 0)),
        ("Texts left out: there before", report.get("repeated", 0)),
        ("Texts left out: outputs or references here", report.get("kept_apart", 0)),
        ("Vocabulary", facts.get("vocabulary", 0)),
        ("Dimensions", facts.get("dimensions", 0)),
        *((f"{n}-grams", count) for n, count in enumerate(facts.get("ngrams", []), start=1)),
    ]
    if shared and not report.get("kept_apart"):
        lines.append(("WARNING: outputs and references here that it was trained on", shared))
    return [(what, count) for what, count in lines if count]
