"""Run a study from the command line."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, ClassVar

from django.core.management import CommandError

from annotation.core.jobs import job_requeue
from annotation.management.base import check_done, progress_bar, write_file
from annotation.models import Project
from correlations.management.comparing import comparison_lines
from correlations.management.studying import Flags, StudyCommand, read_object, three_decimals
from correlations.models import Study
from correlations.results.report import ReportError, read_report
from correlations.results.study import RowEstimate, StudyResult
from correlations.selectors.ceilings import ceiling_cells, ceiling_lines, ceiling_sentence
from correlations.selectors.joint import joint_comparison, joint_document, members
from correlations.selectors.metrics import RUN
from correlations.selectors.reports import few_units
from correlations.selectors.stand_in_words import stand_in_sentence
from correlations.selectors.worth import IN_PLACE_OF
from correlations.services.execution import study_execute
from correlations.services.joint_studies import DATASETS, joint_study_create
from correlations.services.joint_verification import report_project, report_verify
from correlations.services.reports import FILES, joint_report_file, report_file
from correlations.services.studies import study_create
from correlations.services.verification import verification_lines
from correlations.specification_schema import specification_schema
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.units import USUAL
from metrics.scoring.written import read_metric

DESCRIPTION = """\
Correlate metrics with human ratings, and store the study with its table, intervals and sweeps.

The specification is a JSON file ("-" for standard input), flags, or both: a flag wins over the file. What is left out
takes its default. The same specification is never computed twice. A study's page, POST …/studies/ and this command
take the same file; "study schema" prints its JSON Schema.

"study verify report.json" computes the study of a JSON report again, from the texts and ratings that are here, and
lists what differs: first in words what the study reads otherwise here, then every value, by its path in the result.
Of a report over several data sets it does so for each, and for what they say together. It stores nothing. The exit
code is 0 if all is equal. Not compared: how long it took, versions, and numbers of runs.

Examples:
  manage.py study study.json --project demo
  manage.py study --project demo --release dstc7-references --campaign "Output ratings" \\
      --systems Baseline TeamA TeamCE --subsets original "w>0" all --assignments 200
  manage.py study study.json --project demo --json > result.json
  manage.py study study.json --project demo --report report.pdf report.json
  manage.py study verify report.json
  manage.py study verify report.json --project demo-moved --json
  manage.py study schema > study-specification.schema.json

A specification:
  {"release": "dstc7-references/v1", "campaigns": ["Output ratings"], "systems": ["Baseline", "TeamA", "TeamCE"],
   "metrics": ["bleu", {"name": "am_fm", "parameters": {"k": 20}}, {"run": 7}], "subsets": ["original", "w>=0.6"],
   "unit_size": 100, "assignments": 1000, "seed": 1}

Over several data sets, which share all but what each has by itself; prints values per data set and pooled, and ranks:
  {"datasets": [{"campaigns": ["Output ratings"], "systems": ["Baseline", "TeamA"], "release": "dstc7-references/v1"},
                {"campaigns": ["Other ratings"], "systems": ["A", "B", "C"], "release": "other/v2"}],
   "metrics": ["bleu", "chrf"], "subsets": ["all"], "unit_size": 50}
"""
VERIFY, SCHEMA = "verify", "schema"
LISTED = 50  # differences that are printed; --json prints up to a thousand


class Command(StudyCommand):
    help = DESCRIPTION
    name = "Study"
    create = staticmethod(study_create)
    execute_study = staticmethod(study_execute)
    FLAGS: ClassVar[Flags] = {
        "systems": {"nargs": "+", "help": "hypotheses; all pairs of them are compared"},
        "metrics": {
            "nargs": "+",
            "help": "bleu, chrf, am_fm:lambda=0.5,k=20, run:7 …; by default bleu, sbleu and delta_bleu",
        },
        "subsets": {"nargs": "+", "help": 'references: original, "w>0", "w>=0.6", all'},
        "unit_size": {"type": int, "help": "items in one unit (100, or fewer if the items are few)"},
        "assignments": {"type": int, "help": "random assignments of items to units (1000)"},
        "order": {"type": int, "help": "longest n-gram, 1 to 4 (2)"},
        "tokenize": {"help": "whitespace, 13a, intl, char, zh or none (whitespace)"},
        "orientation": {"help": "both, fixed or random (both)"},
        "remainder": {"help": "keep or drop (keep)"},
        "coefficients": {
            "nargs": "+",
            "help": f"of {', '.join(COEFFICIENTS)}; sweeps and comparisons are of the first ({' '.join(USUAL)})",
        },
        "compare": {"help": "rows to compare: best (same references, and the best rows of all metrics) or all (best)"},
        "lowercase": {"flag": "--keep-case", "action": "store_false", "default": None, "help": "do not lowercase"},
        "sweeps": {"flag": "--no-sweeps", "action": "store_false", "default": None, "help": "the table alone"},
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        endings = ", ".join(FILES)
        parser.add_argument("--report", nargs="+", default=[], help=f"write the report to files; endings: {endings}")

    def handle(self, *args: Any, **options: Any) -> None:
        match options["words"]:
            case [word, file] if word == VERIFY:
                self.verify(file, options)
            case [word] if word == SCHEMA:
                self.print_json(specification_schema())
            case [word, *_] if word in (VERIFY, SCHEMA):
                raise CommandError(f"found {' '.join(options['words'])!r}; accepted: verify report.json, or schema")
            case _:
                super().handle(*args, **options)

    def verify(self, file: str, options: dict[str, Any]) -> None:
        """Print what differs between a report and the same study computed here; exit with 1 unless all is equal."""
        try:
            document = read_report(read_object(file, option=VERIFY))
        except ReportError as error:
            raise CommandError(f"{VERIFY} {file}: {error}.") from error
        project = report_project(document, options["project"] or "")
        with progress_bar(quiet=options["json"]) as progress:
            found = report_verify(document, project, progress=progress)
        if options["json"]:
            self.print_json(found.as_dict())
        else:
            for line in verification_lines(found, most=LISTED):
                self.stdout.write(line)
        if not found.equal:
            raise SystemExit(1)

    def run_jointly(self, project: Project, name: str, specification: dict[str, Any], options: dict[str, Any]) -> bool:
        """Make or find the study of each data set, and print what they say together."""
        if DATASETS not in specification:
            return False
        joint, _ = joint_study_create(project=project, name=name, specification=specification, by=None)
        for study in members(joint):
            job_requeue(study)
            with progress_bar(quiet=options["json"]) as progress:
                study_execute(study_id=study.pk, progress=progress)
            check_done(study)
        compared = joint_comparison(joint)
        if compared is None:
            raise CommandError("The studies have no coefficient in common.")
        for path, ending in report_paths(options["report"]):
            write_file(path, [joint_report_file(joint, compared, ending)], quiet=True)
        if options["json"]:
            self.print_json(joint_document(joint, compared).to_json())
            return True
        self.stdout.write(f"{joint.name}: {len(compared.studies)} data sets, signature {joint.signature[:16]}")
        for line in comparison_lines(compared):
            self.stdout.write(line)
        return True

    def write_files(self, study: Study, options: dict[str, Any]) -> None:
        for path, ending in report_paths(options["report"]):
            write_file(path, [report_file(study, study.read_result(), ending)], quiet=True)

    def flags(self, given: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(given.get("metrics"), list):
            return given
        return given | {"metrics": [_metric(written) for written in given["metrics"]]}

    def report(self, result: StudyResult) -> None:
        if reason := few_units(result):
            self.stdout.write(f"Too few units for a conclusion: {reason}.")
        width = max((len(row.label) for row in result.rows), default=0) + 2
        headings = "".join(f"{entry.short:>8}{'raters':>8}  {'bootstrap':<18}" for entry in result.entries)
        self.stdout.write(f"{'metric':<{width}}{'references':<12}{headings}{'N':>6}")
        for index, row in enumerate(result.rows):
            estimates = ceiling_cells(result, index)
            cells = "".join(
                f"{three_decimals(each.estimate.value):>8}{three_decimals(each.human.ceiling):>8}  "
                f"{_interval(each.estimate):<18}"
                for each in estimates
            )
            self.stdout.write(f"{row.label:<{width}}{row.subset_label:<12}{cells}{row.n_observations:>6}")
            for each in estimates:
                if each.estimate.value is None:
                    self.stdout.write(f"  {each.entry.short} undefined: {each.estimate.reason}")
        self.report_ceilings(result, width)
        self.report_worth(result, width)

    def report_ceilings(self, result: StudyResult, width: int) -> None:
        short = result.lead.short
        self.stdout.write(f"Raters among themselves: {ceiling_sentence(result)}")
        self.stdout.write(
            f"{'metric':<{width}}{'references':<12}{f'one rater, {short}':>18}{'metric instead':>18}{'raters':>8}"
        )
        for line in ceiling_lines(result):
            human = line.cells[0].human
            numbers = "".join(f"{three_decimals(value):>18}" for value in (human.one_rater, human.metric))
            self.stdout.write(f"{line.row.label:<{width}}{line.row.subset_label:<12}{numbers}{human.raters:>8}")

    def report_worth(self, result: StudyResult, width: int) -> None:
        self.stdout.write(f"In place of a rater? {stand_in_sentence(result)} Below: of a {IN_PLACE_OF}.")
        self.stdout.write(f"{'metric':<{width}}{'references':<12}{'winning rate':>14}{'advantage':>14}{'saved':>14}")
        for row, worth in zip(result.rows, result.worth, strict=True):
            margin = worth.stand_in.margins.get(IN_PLACE_OF)
            shown = (None if margin is None else margin.winning_rate, worth.stand_in.advantage, worth.saved)
            numbers = "".join(f"{three_decimals(value):>14}" for value in shown)
            self.stdout.write(f"{row.label:<{width}}{row.subset_label:<12}{numbers}")


def report_paths(named: list[str]) -> list[tuple[Path, str]]:
    """Return the files of reports that an option names, with their endings."""
    found = [(Path(written), Path(written).suffix.removeprefix(".")) for written in named]
    for path, ending in found:
        if ending not in FILES:
            raise CommandError(f"--report: found {path}; accepted: a name that ends with {', '.join(FILES)}.")
    return found


def _metric(written: Any) -> Any:
    """Read a metric from one line; the study checks a name without parameters."""
    if not isinstance(written, str) or ":" not in written:
        return written
    run = written.removeprefix(RUN)
    if run != written and run.isdecimal():
        return {"run": int(run)}
    try:
        name, parameters = read_metric(written)
    except ValueError as error:
        raise CommandError(f"--metrics {written}: {error}") from error
    return {"name": name, "parameters": parameters}


def _interval(estimate: RowEstimate) -> str:
    return "" if estimate.over_items is None else " to ".join(f"{end:z.3f}" for end in estimate.over_items)
