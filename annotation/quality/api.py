"""Changes to a running campaign, decisions about its raters, and rules for raters: append-only logs."""

import math
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.campaigns.api.campaigns import OfCampaign
from annotation.campaigns.services.rules import rules_register
from annotation.core.api import ReadViewSet, Strict, find_named
from annotation.models import (
    Amendment,
    Campaign,
    DecisionAction,
    QualityRules,
    Rater,
    RaterDecision,
    System,
    User,
)
from annotation.quality.selectors.amendments import amendments
from annotation.quality.selectors.decisions import decisions
from annotation.quality.selectors.monitoring import campaign_monitor
from annotation.quality.selectors.raters import Moment, Verdict
from annotation.quality.selectors.rule_preview import rules_preview
from annotation.quality.services.decisions import (
    Decided,
    cannot_judge_reopen,
    rater_exclude,
    rater_flag,
    rater_include,
    rater_unflag,
    raters_replace,
)
from annotation.quality.services.operations import campaign_extend, items_add, system_resume, system_stop
from annotation.quality.services.rules import rules_apply
from annotation.weighting.exclusion.registry import rules_from_data

# --- Changes of the campaign ------------------------------------------------------------------------------------------


class AmendmentSerializer(serializers.ModelSerializer[Amendment]):
    by: serializers.SlugRelatedField[User] = serializers.SlugRelatedField(
        source="made_by", slug_field="username", read_only=True
    )

    class Meta:
        model = Amendment
        fields = ("number", "kind", "data", "hash", "by", "made_at")
        read_only_fields = fields


class ExtendSerializer(Strict, serializers.Serializer[Any]):
    ratings_per_unit = serializers.IntegerField(help_text="More than now.")


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
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[Amendment]:
        return amendments(self.campaign)

    def _system(self) -> System:
        asked = self.validated(SystemSerializer)
        system: System
        (system,) = find_named(self.campaign.dataset.systems.all(), [asked["system"]], field="system")
        return system

    @extend_schema(request=ExtendSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"])
    def extend(self, request: Request, **_: Any) -> Response:
        """Add ratings to every unit."""
        asked = self.validated(ExtendSerializer)
        made = campaign_extend(campaign=self.campaign, by=self.user, **asked)
        return self.answer(made, status.HTTP_201_CREATED)

    @extend_schema(request=SystemSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"], url_path="stop-system")
    def stop_system(self, request: Request, **_: Any) -> Response:
        """Stop handing out a system's texts. Raters can still send what they have on screen."""
        made = system_stop(campaign=self.campaign, system=self._system(), by=self.user)
        return self.answer(made, status.HTTP_201_CREATED)

    @extend_schema(request=SystemSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"], url_path="resume-system")
    def resume_system(self, request: Request, **_: Any) -> Response:
        """Hand out a stopped system's texts again."""
        made = system_resume(campaign=self.campaign, system=self._system(), by=self.user)
        return self.answer(made, status.HTTP_201_CREATED)

    @extend_schema(request=AddItemsSerializer, responses={201: AmendmentSerializer})
    @action(detail=False, methods=["post"], url_path="add-items")
    def add_items(self, request: Request, **_: Any) -> Response:
        """Plan the data set as it is now by the same design, and append what is missing."""
        made = items_add(campaign=self.campaign, by=self.user, **self.validated(AddItemsSerializer))
        return self.answer(made, status.HTTP_201_CREATED)


# --- Decisions about raters -------------------------------------------------------------------------------------------


class DecisionSerializer(serializers.ModelSerializer[RaterDecision]):
    rater: serializers.SlugRelatedField[Rater] = serializers.SlugRelatedField(slug_field="pseudonym", read_only=True)
    rules: serializers.SlugRelatedField[QualityRules] = serializers.SlugRelatedField(
        slug_field="version",
        read_only=True,
        help_text="Version of the rules that were applied; null for a person's decision.",
    )
    by: serializers.SlugRelatedField[User] = serializers.SlugRelatedField(
        source="decided_by", slug_field="username", read_only=True
    )

    class Meta:
        model = RaterDecision
        fields = ("id", "rater", "action", "reason", "rules", "evidence", "reopened_slots", "by", "decided_at")
        read_only_fields = fields


class DecideSerializer(Strict, serializers.Serializer[Any]):
    rater = serializers.CharField(help_text="Pseudonym of a rater who takes part.")
    action = serializers.ChoiceField(choices=DecisionAction.choices)
    reason = serializers.CharField(help_text="Up to 300 characters; kept in the record.")
    replace = serializers.BooleanField(
        default=False, help_text="With “exclude”: reopen the slots that the rater has filled for others."
    )

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked["replace"] and asked["action"] != DecisionAction.EXCLUDE:
            message = f"Found true with {asked['action']!r}; accepted: with 'exclude' only."
            raise serializers.ValidationError({"replace": [message]})
        return asked


class DecidedSerializer(serializers.Serializer[Any]):
    decision = DecisionSerializer(allow_null=True, help_text="Null if nothing changed: nothing was written.")
    released = serializers.IntegerField(help_text="Units taken from the rater, unanswered.")
    reopened = serializers.IntegerField(help_text="Filled slots reopened for others.")


class ReopenSerializer(Strict, serializers.Serializer[Any]):
    per_unit = serializers.IntegerField(default=1, help_text="Maximum number of reopened slots of one unit, in total.")


class OpenedSerializer(serializers.Serializer[Any]):
    reopened = serializers.IntegerField(help_text="Slots reopened for others.")


DECIDE = {
    DecisionAction.INCLUDE: rater_include,
    DecisionAction.FLAG: rater_flag,
    DecisionAction.UNFLAG: rater_unflag,
}


class DecisionsViewSet(OfCampaign, ReadViewSet):
    """Raters excluded, restored or flagged, with time and reason, newest first. No rating is changed or removed."""

    queryset = RaterDecision.objects.all()
    serializer_class = DecisionSerializer
    ordering = "-pk"
    lookup_url_kwarg = "decision_pk"
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[RaterDecision]:
        found = decisions(self.campaign)
        rater = self.parameter("rater")
        return found.filter(rater__pseudonym=rater) if rater else found

    @extend_schema(parameters=[OpenApiParameter("rater", str, description="Pseudonym of a rater.")])
    def list(self, request: Request, **kwargs: Any) -> Response:
        return super().list(request, **kwargs)

    @extend_schema(request=DecideSerializer, responses={200: DecidedSerializer, 201: DecidedSerializer})
    def create(self, request: Request, **_: Any) -> Response:
        """Decide about a rater; 200 if nothing changed."""
        asked = self.validated(DecideSerializer)
        taking_part = Rater.objects.filter(participations__campaign=self.campaign)
        (rater,) = find_named(taking_part, [asked["rater"]], field="rater", by="pseudonym")
        given = {"campaign": self.campaign, "rater": rater, "reason": asked["reason"], "by": self.user}
        if asked["action"] == DecisionAction.EXCLUDE:
            decided = rater_exclude(**given, replace=asked["replace"])
        else:
            decided = DECIDE[asked["action"]](**given)
        return self._decided(decided)

    def _decided(self, decided: Decided) -> Response:
        shown = DecidedSerializer(decided, context=self.get_serializer_context()).data
        return Response(shown, status.HTTP_201_CREATED if decided.decision else status.HTTP_200_OK)

    @extend_schema(request=None, responses=OpenedSerializer)
    @action(detail=False, methods=["post"], url_path="replace-excluded")
    def replace_excluded(self, request: Request, **_: Any) -> Response:
        """Reopen all slots that excluded raters have filled; their ratings stay in the log."""
        return Response({"reopened": raters_replace(campaign=self.campaign, by=self.user)})

    @extend_schema(request=ReopenSerializer, responses=OpenedSerializer)
    @action(detail=False, methods=["post"], url_path="reopen-unjudged")
    def reopen_unjudged(self, request: Request, **_: Any) -> Response:
        """Reopen slots whose rater could not judge everything on screen."""
        asked = self.validated(ReopenSerializer)
        return Response({"reopened": cannot_judge_reopen(campaign=self.campaign, by=self.user, **asked)})


# --- Rules ------------------------------------------------------------------------------------------------------------


class RulesSerializer(serializers.ModelSerializer[QualityRules]):
    by: serializers.SlugRelatedField[User] = serializers.SlugRelatedField(
        source="created_by", slug_field="username", read_only=True
    )

    class Meta:
        model = QualityRules
        fields = ("version", "rules", "before_launch", "by", "created_at")
        read_only_fields = fields


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
    places = serializers.IntegerField(source="n_places", help_text="Slots that replacing would reopen.")


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
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[QualityRules]:
        return self.campaign.rule_versions.select_related("created_by")

    @extend_schema(request=RegisterSerializer, responses={201: RulesSerializer})
    def create(self, request: Request, **_: Any) -> Response:
        """Register the next version, unless it equals the newest. It has no effect until it is applied."""
        asked = self.validated(RegisterSerializer)
        made = rules_register(campaign=self.campaign, records=asked["rules"], by=self.user)
        return self.answer(made, status.HTTP_201_CREATED)

    @extend_schema(responses=RulesPreviewSerializer)
    @action(detail=True)
    def preview(self, request: Request, **_: Any) -> Response:
        """Preview which raters and ratings this version would exclude now; nothing is written."""
        found = rules_preview(self.campaign, rules_from_data(self.get_object().rules))
        return Response(RulesPreviewSerializer(found).data)

    @extend_schema(request=ApplySerializer, responses=AppliedSerializer)
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, **_: Any) -> Response:
        """Exclude and flag raters, each by a decision that names the rule and its evidence."""
        rules, asked = self.get_object(), self.validated(ApplySerializer)
        seen = Moment(**asked["as_of"]) if "as_of" in asked else None
        done = rules_apply(campaign=self.campaign, rules=rules, replace=asked["replace"], seen=seen, by=self.user)
        return Response(AppliedSerializer(done).data)


class FiniteField(serializers.FloatField):
    """A number that is null if undefined: JSON has no NaN."""

    def to_representation(self, value: float) -> float | None:  # type: ignore[override] # the stubs say str
        number = float(value)
        return number if math.isfinite(number) else None


class CriterionFiguresSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    ratings = serializers.IntegerField(source="n_ratings")
    mean = FiniteField(allow_null=True)
    values = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField()), help_text="[point, ratings] over the scale."
    )
    cannot_judge = serializers.IntegerField(
        source="n_cannot_judge", help_text="Answers with a reason instead of a rating."
    )
    alpha = FiniteField(
        source="alpha.alpha",
        allow_null=True,
        help_text="Krippendorff's: ordinal for points and preferences, interval for sliders and magnitudes.",
    )
    alpha_low = FiniteField(source="alpha.low", allow_null=True, help_text="Of its 95% interval.")
    alpha_high = FiniteField(source="alpha.high", allow_null=True)
    alpha_reason = serializers.CharField(source="alpha.reason", help_text="Why it is undefined, or empty.")
    icc_1 = FiniteField(source="icc.icc_1", allow_null=True, help_text="One-way ICC of single ratings.")
    icc_1_low = FiniteField(source="icc.icc_1_low", allow_null=True, help_text="Of its 95% interval.")
    icc_1_high = FiniteField(source="icc.icc_1_high", allow_null=True)
    icc_k = FiniteField(source="icc.icc_k", allow_null=True, help_text="One-way ICC of mean ratings.")
    icc_k_low = FiniteField(source="icc.icc_k_low", allow_null=True, help_text="Of its 95% interval.")
    icc_k_high = FiniteField(source="icc.icc_k_high", allow_null=True)
    icc_reason = serializers.CharField(source="icc.reason", help_text="Why it is undefined, or empty.")
    kappa = FiniteField(source="kappa.kappa", allow_null=True, help_text="Pairwise quadratic weighted, averaged.")
    kappa_low = FiniteField(source="kappa.low", allow_null=True, help_text="Of its 95% interval.")
    kappa_high = FiniteField(source="kappa.high", allow_null=True)
    kappa_reason = serializers.CharField(source="kappa.reason", help_text="Why it is undefined, or empty.")


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
    criteria = CriterionFiguresSerializer(source="figures.criteria", many=True, allow_null=True)
    computed_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When a worker computed the statistics of a campaign with more than 20,000 ratings; they are null "
        "until then. Null for statistics computed now.",
    )


class MonitorViewSet(OfCampaign):
    queryset = Campaign.objects.all()

    @extend_schema(operation_id="projects_campaigns_monitor_retrieve", responses=MonitorSerializer)
    @action(detail=False)
    def monitor(self, request: Request, **_: Any) -> Response:
        """Return completion, and the current distribution and agreement of ratings."""
        return Response(MonitorSerializer(campaign_monitor(self.campaign)).data)
