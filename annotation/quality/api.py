"""Changes to a running campaign, decisions about its raters, and rules for raters: append-only logs."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.campaigns.api.campaigns import OfCampaign
from annotation.campaigns.services.rules import rules_register
from annotation.core.api import AnswerSerializer, ReadViewSet, Strict, UsernameField, one_named
from annotation.core.numbers import finite_or_none
from annotation.models import Amendment, Campaign, DecisionAction, QualityRules, Rater, RaterDecision, System
from annotation.quality.selectors.amendments import amendments
from annotation.quality.selectors.decisions import decisions
from annotation.quality.selectors.monitoring.live import campaign_monitor
from annotation.quality.selectors.raters import Moment, Verdict
from annotation.quality.selectors.rule_preview import rules_preview
from annotation.quality.services import operations
from annotation.quality.services.decisions import ACTS, cannot_judge_reopen, rater_decide, raters_replace
from annotation.quality.services.rules import rules_apply
from annotation.weighting.exclusion.registry import rules_from_data

CREATED = status.HTTP_201_CREATED

# --- Changes of the campaign ------------------------------------------------------------------------------------------


class AmendmentSerializer(AnswerSerializer):
    by = UsernameField(source="made_by")

    class Meta:
        model = Amendment
        fields = ("number", "kind", "data", "hash", "by", "made_at")


class ExtendSerializer(Strict, serializers.Serializer[Any]):
    ratings_per_unit = serializers.IntegerField(help_text="More than now.")


class TopUpSerializer(Strict, serializers.Serializer[Any]):
    ratings = serializers.IntegerField(help_text="More slots, in total.")
    criterion = serializers.CharField(
        default="", allow_blank=True, help_text="Whose differences to narrow; empty: the weights of all texts."
    )
    systems = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="Two systems whose order is open; empty: every open difference.",
    )
    floor = serializers.IntegerField(
        required=False, help_text="Slots that every item has afterwards; default: what every item has."
    )
    most = serializers.IntegerField(
        required=False, help_text="Slots that no item exceeds; default: three times what every item has."
    )
    seed = serializers.IntegerField(
        required=False, help_text="Decides between equally good items; default: the campaign's."
    )


class SystemSerializer(Strict, serializers.Serializer[Any]):
    system = serializers.CharField(help_text="Name of a system that the campaign rates.")


class AddItemsSerializer(Strict, serializers.Serializer[Any]):
    item_limit = serializers.IntegerField(
        required=False, allow_null=True, help_text="Raises the limit of a campaign that has one."
    )


class AmendmentsViewSet(OfCampaign, ReadViewSet):
    """Changes since launch: a chain of hashes that begins with the design's. No change touches a rating."""

    queryset = Amendment.objects.all()
    serializer_class = AmendmentSerializer
    ordering = "number"
    lookup_field = "number"
    lookup_url_kwarg = "amendment_number"

    def get_queryset(self) -> QuerySet[Amendment]:
        return amendments(self.campaign)

    def _amended(self, service: Callable[..., Amendment], **values: Any) -> ApiResponse:
        return self.answer(service(campaign=self.campaign, by=self.user, **values), CREATED)

    def _system(self) -> System:
        name = self.validated(SystemSerializer)["system"]
        return one_named(self.campaign.dataset.systems.all(), name, field="system")

    @extend_schema(request=ExtendSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"])
    def extend(self, request: Request, **_: Any) -> ApiResponse:
        """Add ratings to every unit."""
        return self._amended(operations.campaign_extend, **self.validated(ExtendSerializer))

    @extend_schema(request=TopUpSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"], url_path="top-up")
    def top_up(self, request: Request, **_: Any) -> ApiResponse:
        """Add ratings to the items where they narrow a difference, or all weights, most."""
        return self._amended(operations.campaign_top_up, **self.validated(TopUpSerializer))

    @extend_schema(request=SystemSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"], url_path="stop-system")
    def stop_system(self, request: Request, **_: Any) -> ApiResponse:
        """Stop handing out a system's texts. Raters can still send what they have on screen."""
        return self._amended(operations.system_stop, system=self._system())

    @extend_schema(request=SystemSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"], url_path="resume-system")
    def resume_system(self, request: Request, **_: Any) -> ApiResponse:
        """Hand out a stopped system's texts again."""
        return self._amended(operations.system_resume, system=self._system())

    @extend_schema(request=AddItemsSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"], url_path="add-items")
    def add_items(self, request: Request, **_: Any) -> ApiResponse:
        """Plan the data set as it is now by the same design, and append what is missing."""
        return self._amended(operations.items_add, **self.validated(AddItemsSerializer))


# --- Decisions about raters -------------------------------------------------------------------------------------------


class DecisionSerializer(AnswerSerializer):
    rater: serializers.SlugRelatedField[Rater] = serializers.SlugRelatedField(slug_field="pseudonym", read_only=True)
    rules: serializers.SlugRelatedField[QualityRules] = serializers.SlugRelatedField(
        slug_field="version",
        read_only=True,
        help_text="Version of the rules that were applied; null for a person's decision.",
    )
    by = UsernameField(source="decided_by")

    class Meta:
        model = RaterDecision
        fields = ("id", "rater", "action", "reason", "rules", "evidence", "reopened_slots", "by", "decided_at")


class DecideSerializer(Strict, serializers.Serializer[Any]):
    rater = serializers.CharField(help_text="Pseudonym of a rater who takes part.")
    action = serializers.ChoiceField(choices=[(action.value, action.label) for action in ACTS])
    reason = serializers.CharField(help_text="Up to 300 characters; stored in the record.")
    replace = serializers.BooleanField(
        default=False, help_text="With “exclude”: reopen the slots that the rater has filled for others."
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if values["replace"] and values["action"] != DecisionAction.EXCLUDE:
            message = f"Found true with {values['action']!r}; accepted: with 'exclude' only."
            raise serializers.ValidationError({"replace": [message]})
        return values


class DecidedSerializer(serializers.Serializer[Any]):
    decision = DecisionSerializer(allow_null=True, help_text="Null if nothing changed: nothing was written.")
    released = serializers.IntegerField(help_text="Units taken from the rater, unanswered.")
    reopened = serializers.IntegerField(help_text="Filled slots reopened for others.")


class ReopenSerializer(Strict, serializers.Serializer[Any]):
    per_unit = serializers.IntegerField(default=1, help_text="Maximum number of reopened slots of one unit, in total.")


class OpenedSerializer(serializers.Serializer[Any]):
    reopened = serializers.IntegerField(help_text="Slots reopened for others.")


@extend_schema_view(
    list=extend_schema(parameters=[OpenApiParameter("rater", str, description="Pseudonym of a rater.")])
)
class DecisionsViewSet(OfCampaign, ReadViewSet):
    """Raters excluded, restored or flagged, with time and reason, newest first. No rating is changed or removed."""

    queryset = RaterDecision.objects.all()
    serializer_class = DecisionSerializer
    ordering = "-pk"
    lookup_url_kwarg = "decision_pk"

    def get_queryset(self) -> QuerySet[RaterDecision]:
        rows = decisions(self.campaign)
        rater = self.parameter("rater")
        return rows.filter(rater__pseudonym=rater) if rater else rows

    @extend_schema(request=DecideSerializer, responses={200: DecidedSerializer, 201: DecidedSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Decide about a rater; 200 if nothing changed."""
        values = self.validated(DecideSerializer)
        taking_part = Rater.objects.filter(participations__campaign=self.campaign)
        values["rater"] = one_named(taking_part, values["rater"], field="rater", by="pseudonym")
        action = DecisionAction(values.pop("action"))
        decided = rater_decide(action, campaign=self.campaign, by=self.user, **values)
        body = DecidedSerializer(decided, context=self.get_serializer_context()).data
        return ApiResponse(body, CREATED if decided.decision else status.HTTP_200_OK)

    @extend_schema(request=None, responses=OpenedSerializer)
    @action(detail=False, methods=["post"], url_path="replace-excluded")
    def replace_excluded(self, request: Request, **_: Any) -> ApiResponse:
        """Reopen all slots that excluded raters have filled; their ratings stay in the log."""
        return ApiResponse({"reopened": raters_replace(campaign=self.campaign, by=self.user)})

    @extend_schema(request=ReopenSerializer, responses=OpenedSerializer)
    @action(detail=False, methods=["post"], url_path="reopen-unjudged")
    def reopen_unjudged(self, request: Request, **_: Any) -> ApiResponse:
        """Reopen slots whose rater could not judge everything on screen."""
        values = self.validated(ReopenSerializer)
        return ApiResponse({"reopened": cannot_judge_reopen(campaign=self.campaign, by=self.user, **values)})


# --- Rules ------------------------------------------------------------------------------------------------------------


class RulesSerializer(AnswerSerializer):
    by = UsernameField(source="created_by")

    class Meta:
        model = QualityRules
        fields = ("version", "rules", "before_launch", "by", "created_at")


class RegisterSerializer(Strict, serializers.Serializer[Any]):
    rules = serializers.ListField(
        child=serializers.DictField(), help_text="All rules, in the order in which they apply."
    )


class MomentSerializer(Strict, serializers.Serializer[Any]):
    rating = serializers.IntegerField(min_value=0, help_text="The newest rating that counts.")
    check = serializers.IntegerField(min_value=0, help_text="The newest answer to a check.")
    decision = serializers.IntegerField(min_value=0, help_text="The newest decision.")


class ApplySerializer(Strict, serializers.Serializer[Any]):
    replace = serializers.BooleanField(default=False, help_text="Reopen the slots that excluded raters have filled.")
    as_of = MomentSerializer(required=False, help_text="As returned by a preview; default: now.")


class VerdictSerializer(serializers.Serializer[Any]):
    rater = serializers.CharField(source="rater.pseudonym")
    action = serializers.CharField(help_text="“exclude” or “flag”.")
    rule = serializers.IntegerField(source="number", help_text="From 1.")
    sentence = serializers.CharField()
    evidence = serializers.SerializerMethodField(help_text="The measure, its interval, n, and the threshold.")

    def get_evidence(self, verdict: Verdict) -> dict[str, Any]:
        return verdict.evidence.to_dict()


class RulesPreviewSerializer(serializers.Serializer[Any]):
    as_of = serializers.DictField(
        source="at._asdict",
        child=serializers.IntegerField(),
        help_text="For “apply”: the state that this preview shows.",
    )
    verdicts = VerdictSerializer(many=True)
    ratings = serializers.IntegerField(source="n_ratings", help_text="Ratings that count now.")
    ratings_leaving = serializers.IntegerField(source="n_leaving")
    places = serializers.IntegerField(source="n_slots", help_text="Slots that replacing would reopen.")


class AppliedSerializer(serializers.Serializer[Any]):
    excluded = serializers.IntegerField()
    flagged = serializers.IntegerField()
    reopened = serializers.IntegerField(help_text="Filled slots reopened for others.")
    unchanged = serializers.IntegerField(help_text="Already excluded or flagged.")


class RulesViewSet(OfCampaign, ReadViewSet):
    """Every version of the campaign's rules, newest first. A version never changes."""

    queryset = QualityRules.objects.all()
    serializer_class = RulesSerializer
    ordering = "-version"
    lookup_field = "version"
    lookup_url_kwarg = "rules_version"

    def get_queryset(self) -> QuerySet[QualityRules]:
        return self.campaign.rule_versions.select_related("created_by")

    @extend_schema(request=RegisterSerializer, responses={201: RulesSerializer})
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Register the next version, unless it equals the newest. It has no effect until it is applied."""
        records = self.validated(RegisterSerializer)["rules"]
        return self.answer(rules_register(campaign=self.campaign, records=records, by=self.user), CREATED)

    @extend_schema(responses=RulesPreviewSerializer)
    @action(detail=True)
    def preview(self, request: Request, **_: Any) -> ApiResponse:
        """Preview which raters and ratings this version would exclude now; nothing is written."""
        preview = rules_preview(self.campaign, rules_from_data(self.get_object().rules))
        return ApiResponse(RulesPreviewSerializer(preview).data)

    @extend_schema(request=ApplySerializer, responses=AppliedSerializer)
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, **_: Any) -> ApiResponse:
        """Exclude and flag raters, each by a decision that names the rule and its evidence."""
        rules, values = self.get_object(), self.validated(ApplySerializer)
        options = {"replace": values["replace"], "seen": Moment(**values["as_of"]) if "as_of" in values else None}
        applied = rules_apply(campaign=self.campaign, rules=rules, by=self.user, **options)
        return ApiResponse(AppliedSerializer(applied).data)


class FiniteField(serializers.FloatField):
    """A number that is null if undefined: JSON has no NaN."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: float) -> float | None:  # type: ignore[override] # the stubs say str
        return finite_or_none(value)


INTERVAL, REASON = "Of its 95% interval.", "Why it is undefined, or empty."


class CriterionStatisticsSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    ratings = serializers.IntegerField(source="n_ratings")
    mean = FiniteField()
    values = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()), help_text="[point, ratings] over the scale."
    )
    cannot_judge = serializers.IntegerField(
        source="n_cannot_judge", help_text="Answers with a reason instead of a rating."
    )
    alpha = FiniteField(
        source="alpha.alpha",
        help_text="Krippendorff's: ordinal for points and preferences, interval for sliders and magnitudes.",
    )
    alpha_low = FiniteField(source="alpha.low", help_text=INTERVAL)
    alpha_high = FiniteField(source="alpha.high")
    alpha_reason = serializers.CharField(source="alpha.reason", help_text=REASON)
    icc_1 = FiniteField(source="icc.icc_1", help_text="One-way ICC of single ratings.")
    icc_1_low = FiniteField(source="icc.icc_1_low", help_text=INTERVAL)
    icc_1_high = FiniteField(source="icc.icc_1_high")
    icc_k = FiniteField(source="icc.icc_k", help_text="One-way ICC of mean ratings.")
    icc_k_low = FiniteField(source="icc.icc_k_low", help_text=INTERVAL)
    icc_k_high = FiniteField(source="icc.icc_k_high")
    icc_reason = serializers.CharField(source="icc.reason", help_text=REASON)
    kappa = FiniteField(source="kappa.kappa", help_text="Quadratic weighted, of all pairs of raters together.")
    kappa_low = FiniteField(source="kappa.low", help_text=INTERVAL)
    kappa_high = FiniteField(source="kappa.high")
    kappa_reason = serializers.CharField(source="kappa.reason", help_text=REASON)


class MonitorSerializer(serializers.Serializer[Any]):
    slots = serializers.IntegerField(source="slots_total")
    slots_done = serializers.IntegerField()
    slots_leased = serializers.IntegerField()
    percent_done = serializers.FloatField()
    raters_active = serializers.IntegerField()
    raters = serializers.IntegerField(source="figures.n_raters", allow_null=True)
    judgements = serializers.IntegerField(source="figures.n_judgements", allow_null=True)
    ratings = serializers.IntegerField(source="figures.n_ratings", allow_null=True)
    ratings_extra = serializers.IntegerField(source="figures.n_extra", allow_null=True)
    ratings_superseded = serializers.IntegerField(source="figures.n_superseded", allow_null=True)
    criteria = CriterionStatisticsSerializer(source="figures.criteria", many=True, allow_null=True)
    computed_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When a worker computed the statistics of a campaign with more than 20,000 ratings; they are null "
        "until then. Null for statistics computed now.",
    )


class MonitorViewSet(OfCampaign):
    queryset = Campaign.objects.all()

    @extend_schema(operation_id="projects_campaigns_monitor_retrieve", responses=MonitorSerializer)
    @action(detail=False)
    def monitor(self, request: Request, **_: Any) -> ApiResponse:
        """Return completion, and the current distribution and agreement of ratings."""
        return ApiResponse(MonitorSerializer(campaign_monitor(self.campaign)).data)
