"""The kind of studies of a metric's parameters."""

from operator import itemgetter

from annotation.core.views import MemberRequest
from annotation.models import Dataset, Release
from correlations import tasks
from correlations.forms.parameters import MetricStepForm, ParameterStudyForm
from correlations.models import ParameterStudy
from correlations.results.parameters import ParameterResult
from correlations.selectors import parameter_reports as reports
from correlations.selectors.methods import parameter_study_methods
from correlations.services.parameter_studies import parameter_study_create
from correlations.views.kinds import Context, Kind
from metrics.scoring.registry import METRICS


def _form(request: MemberRequest, dataset: Dataset, release: Release | None) -> tuple[ParameterStudyForm, Context]:
    query = request.POST if request.method == "POST" else request.GET
    step = MetricStepForm(query if "metric" in query else None, dataset=dataset, release=release)
    metric = step.chosen()
    form = ParameterStudyForm(request.POST or None, dataset=dataset, release=release, metric=metric)
    return form, {"step": step, "metric": metric, "about": METRICS[metric]}


def _parameters(study: ParameterStudy) -> str:
    return ", ".join(f"{sweep['parameter']} ({len(sweep['values'])})" for sweep in study.specification["sweeps"])


def _report(study: ParameterStudy, result: ParameterResult) -> Context:
    metric_label = reports.metric_label(study)
    return {
        "result": result,
        "has_report_files": True,
        "metric_label": metric_label,
        "sweeps": [reports.SweepReport(sweep, result) for sweep in result.sweeps],
        "in_use": reports.values_in_use(study),
        "cards": reports.summary_cards(study, result),
        "methods": parameter_study_methods(study, result, metric_label=metric_label),
        "few_systems": len(study.specification["systems"]) < reports.FEW_SYSTEMS,
    }


PARAMETER_STUDY = Kind(
    model=ParameterStudy,
    title="Parameter studies",
    question="What does a metric's parameter do to its agreement with your raters?",
    empty="Vary the dimensions of AM, the order of FM, the balance of AM-FM, or any other parameter of any metric, and "
    "see which value agrees best with the ratings. You need a campaign that rated outputs of three "
    "systems or more.",
    purpose="One metric, and what its parameters do to its agreement with your raters.",
    eyebrow=lambda study: f"Parameter study of {reports.metric_label(study)}",
    columns={
        "metric": lambda spec: spec["metric"]["name"],
        "parameters": lambda spec: [sweep["parameter"] for sweep in spec["sweeps"]],
        "systems": itemgetter("systems"),
        "campaigns": itemgetter("campaigns"),
    },
    cells={
        "Metric": reports.metric_label,
        "Parameters": _parameters,
        "Systems": lambda study: str(len(study.specification["systems"])),
    },
    create=parameter_study_create,
    task=tasks.execute_parameter_study,
    form=_form,
    read=ParameterStudy.read_result,
    report=_report,
    table=reports.table,
    figure=reports.figure,
)
