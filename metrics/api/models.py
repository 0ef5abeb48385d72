"""Trained models: request, poll, delete. Metrics name them by their hash."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet, Strict, find_named
from annotation.core.json_bodies import StrictJSONParser
from annotation.core.uploads import in_bytes, upload_limit
from annotation.mining.api import JsonTextField
from annotation.models import Corpus, Dataset
from metrics.models import TrainedModel
from metrics.scoring.models.kinds import KINDS
from metrics.selectors.models import models_of, runs_using
from metrics.selectors.training_ratings import STATISTICS
from metrics.selectors.training_texts import corpora_to_train_on
from metrics.services import training as services
from metrics.services.model_rows import ModelRequest
from metrics.services.quality_training import ChosenRatings, model_train_on_ratings
from metrics.tasks import train_model

OF_TEXTS = ("texts", "source_kinds", "source_systems")
OF_RATINGS = ("criteria", "statistic", "cross_validate")


# --- Serializers ------------------------------------------------------------------------------------------------------


class ModelRequestSerializer(Strict, serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120, help_text="An existing name gets another version.")
    kind = serializers.ChoiceField(choices=list(KINDS))
    options = JsonTextField(required=False, help_text="What its kind takes, such as {“components”: 100}.")
    keep_apart = serializers.BooleanField(
        default=True, help_text="Leave out texts that are outputs, or references of releases, in the project."
    )


class ModelOfTextsSerializer(ModelRequestSerializer):
    """One of ``dataset``, ``corpus`` and ``campaigns``."""

    dataset = serializers.SlugField(required=False, help_text="Train on texts of this data set.")
    corpus = serializers.SlugField(required=False, help_text="Train on texts of this corpus.")
    texts = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="messages, contexts; of a corpus also responses."
    )
    source_kinds = serializers.ListField(child=serializers.CharField(), required=False, help_text="Of a data set.")
    source_systems = serializers.ListField(child=serializers.CharField(), required=False, help_text="Of a data set.")
    campaigns = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Names of campaigns whose ratings a `quality` learns from.",
    )
    criteria = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Of the campaigns; their mean is predicted. All if left out.",
    )
    statistic = serializers.ChoiceField(
        choices=list(STATISTICS),
        required=False,
        help_text="What an output's rating is of those of its raters; `median` if left out.",
    )
    cross_validate = serializers.BooleanField(
        required=False,
        help_text="Store predictions of the rated outputs, by models that have not seen them, as a score run.",
    )

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if len({"dataset", "corpus", "campaigns"} & data.keys()) != 1:
            message = "Accepted: one of dataset, corpus and campaigns, or a file as multipart."
            raise ValidationError({"dataset": [message]})
        refused, accepted = (OF_TEXTS, "a data set") if "campaigns" in data else (OF_RATINGS, "campaigns")
        for name in refused:
            if name in data:
                raise ValidationError({name: [f"Accepted only with {accepted}."]})
        return data


class ModelFileSerializer(ModelRequestSerializer):
    file = serializers.FileField(
        help_text="One text per line, perhaps compressed; or, with `made_elsewhere`, a model.",
        validators=[upload_limit(", or any size by the command train_metric_model", write=in_bytes)],
    )
    made_elsewhere = serializers.BooleanField(default=False, help_text="The file is a model: ARPA, word2vec, GloVe.")


class TrainedModelSerializer(JobSerializer):
    dataset: serializers.SlugRelatedField[Dataset] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    corpus: serializers.SlugRelatedField[Corpus] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    options = serializers.DictField(read_only=True)
    source = serializers.DictField(read_only=True)  # type: ignore[assignment]  # the model's column; a field's own is unused
    reference = serializers.CharField(read_only=True, help_text="What a metric's parameter takes: `sha256:...`.")

    class Meta:
        model = TrainedModel
        fields: tuple[str, ...] = (
            "id",
            *JOB_FIELDS,
            "name",
            "slug",
            "version",
            "kind",
            "options",
            "dataset",
            "corpus",
            "source",
            "reference",
            "digest",
            "size",
        )


class TrainedModelDetailSerializer(TrainedModelSerializer):
    report = serializers.DictField(read_only=True, help_text="Statistics of its texts and of the model.")
    score_runs = serializers.SerializerMethodField(help_text="Ids of the score runs that read it, newest first.")

    class Meta(TrainedModelSerializer.Meta):
        fields = (*TrainedModelSerializer.Meta.fields, "report", "score_runs")

    def get_score_runs(self, model: TrainedModel) -> list[int]:
        return list(runs_using(model).values_list("pk", flat=True))


# --- Endpoints --------------------------------------------------------------------------------------------------------


class TrainedModelsViewSet(JobViewSet):
    queryset = TrainedModel.objects.all()
    parser_classes = (MultiPartParser, StrictJSONParser)
    lookup_url_kwarg = "model_pk"
    task = train_model

    def get_queryset(self) -> QuerySet[TrainedModel]:
        kind = self.parameter("kind")
        if kind and kind not in KINDS:
            raise ValidationError({"kind": [f"Found {kind!r}; accepted: {', '.join(KINDS)}."]})
        return models_of(self.project, kind)

    def get_serializer_class(self) -> type[TrainedModelSerializer]:
        return TrainedModelSerializer if self.action == "list" else TrainedModelDetailSerializer

    @extend_schema(parameters=[OpenApiParameter("kind", str, enum=list(KINDS))])
    def list(self, request: Request, **kwargs: Any) -> ApiResponse:
        return super().list(request, **kwargs)

    @extend_schema(
        request={"multipart/form-data": ModelFileSerializer, "application/json": ModelOfTextsSerializer},
        responses={202: TrainedModelDetailSerializer},
    )
    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Create a version of a model from stored texts or from a file. Poll its ``url``."""
        model = self._of_file() if request.content_type.startswith("multipart/") else self._of_texts()
        self.start(model)
        return self.answer(model, status.HTTP_202_ACCEPTED)

    def _of_texts(self) -> TrainedModel:
        values = self.validated(ModelOfTextsSerializer)
        new = self._model_request(values)
        if "campaigns" in values:
            return self._of_ratings(new, values)
        if "dataset" in values:
            dataset = self.dataset_named(values.pop("dataset"))
            return services.model_train_on_dataset(request=new, dataset=dataset, **values)
        for name in ("source_kinds", "source_systems"):
            if name in values:
                raise ValidationError({name: ["Found with a corpus; accepted with a data set."]})
        done = corpora_to_train_on(self.project)
        (corpus,) = find_named(done, [values.pop("corpus")], field="corpus", by="slug")
        return services.model_train_on_corpus(request=new, corpus=corpus, **values)

    def _of_ratings(self, new: ModelRequest, values: dict[str, Any]) -> TrainedModel:
        campaigns = find_named(self.project.campaigns.all(), values["campaigns"], field="campaigns", by="name")
        chosen = ChosenRatings(campaigns, values.get("criteria", ()), values.get("statistic", "median"))
        return model_train_on_ratings(request=new, ratings=chosen, cross_validate=values.get("cross_validate", False))

    def _of_file(self) -> TrainedModel:
        values = self.validated(ModelFileSerializer)
        file: UploadedFile[bytes] = values["file"]
        create = services.model_register_upload if values["made_elsewhere"] else services.model_train_on_upload
        new = self._model_request(values)
        return create(request=new, filename=file.name or "upload", content=file.read())

    def _model_request(self, values: dict[str, Any]) -> ModelRequest:
        """Take the values of every new model out of a request's."""
        names = [name for name in ModelRequestSerializer().get_fields() if name in values]
        return ModelRequest(self.project, self.user, **{name: values.pop(name) for name in names})

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, **_: Any) -> ApiResponse:
        """Delete a model that no score run reads, with its files."""
        services.model_delete(model=self.get_object(), by=self.user)
        return ApiResponse(status=status.HTTP_204_NO_CONTENT)
