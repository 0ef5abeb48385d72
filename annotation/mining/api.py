"""Corpora of conversations, and references mined from them."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.access import get_in_project_or_404
from annotation.core.api import JOB_FIELDS, AnswerSerializer, JobSerializer, JobViewSet, ReadViewSet, Strict, find_named
from annotation.core.json_bodies import StrictJSONParser, json_read
from annotation.core.uploads import in_bytes, upload_limit
from annotation.datasets.api.imports import RowErrorSerializer
from annotation.mining.opening import COMPRESSIONS, FORMATS
from annotation.mining.selectors import (
    CANDIDATE_FIELDS,
    CandidateFilter,
    candidates_matching,
    corpus_search,
    mining_run_rows,
)
from annotation.mining.services.corpora import corpus_delete, corpus_from_dataset, corpus_upload
from annotation.mining.services.runs import mining_run_create
from annotation.mining.services.storing import mining_run_store
from annotation.mining.tasks import corpus_index, mining_run_execute
from annotation.models import CandidateFate, Corpus, Dataset, Item, JobState, MinedCandidate, MiningRun, SourceKind

DESCRIBED = ("name", "description", "language", "licence", "attribution")
READING = ("file_format", "compression", "columns", "header", "turn_separator")

# --- Requests ---------------------------------------------------------------------------------------------------------


class JsonTextField(serializers.JSONField):
    """An object or, in multipart, its JSON text."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str):
            try:
                data = json_read(data)
            except ValueError as error:
                raise serializers.ValidationError(f"Found text that is not JSON: {error}.") from error
        if not isinstance(data, dict):
            raise serializers.ValidationError(f"Found {type(data).__name__}; accepted: an object.")
        return data


class CorpusAboutSerializer(Strict, serializers.ModelSerializer[Corpus]):
    index = JsonTextField(required=False, help_text="BM25: {“k1”: 1.2, “b”: 0.75, “tokenizer”: “words”}.")

    class Meta:
        model = Corpus
        fields: tuple[str, ...] = (*DESCRIBED, "index")


class CorpusFileSerializer(CorpusAboutSerializer):
    file = serializers.FileField(
        help_text="JSON Lines, TSV or Parquet, also compressed with gzip or Zstandard.",
        validators=[upload_limit(", or any size by the command import_corpus", write=in_bytes)],
    )
    file_format = serializers.ChoiceField(
        choices=list(FORMATS.items()), required=False, help_text="Needed only if content and name do not tell it."
    )
    compression = serializers.ChoiceField(
        choices=list(COMPRESSIONS.items()), required=False, help_text="Needed only if the content does not tell it."
    )
    columns = JsonTextField(required=False, help_text="Other column names: {“message”: “post”, “response”: “reply”}.")
    header = serializers.BooleanField(default=True, help_text="Does the first line of a TSV name its columns?")
    turn_separator = serializers.CharField(
        required=False, max_length=20, help_text="Between turns of a context in one text."
    )

    class Meta(CorpusAboutSerializer.Meta):
        fields = (*CorpusAboutSerializer.Meta.fields, "file", *READING)


class CorpusOfDatasetSerializer(CorpusAboutSerializer):
    dataset = serializers.SlugField(help_text="Slug of the data set whose responses are taken.")
    source_kinds = serializers.ListField(child=serializers.CharField(), default=list)
    source_systems = serializers.ListField(child=serializers.CharField(), default=list)

    class Meta(CorpusAboutSerializer.Meta):
        fields = (*CorpusAboutSerializer.Meta.fields, "dataset", "source_kinds", "source_systems")


class SeedChoiceSerializer(Strict, serializers.Serializer[Any]):
    kind = serializers.CharField(required=False, help_text="Kind of source; “seed” if neither is given.")
    system = serializers.CharField(required=False, help_text="Name of the system whose outputs are the seeds.")
    splits = serializers.ListField(child=serializers.CharField(), default=list, help_text="Empty: all items.")


class MiningRequestSerializer(Strict, serializers.Serializer[Any]):
    dataset = serializers.SlugField()
    corpus = serializers.SlugField()
    seeds = SeedChoiceSerializer(required=False)
    specification = serializers.DictField(
        required=False,
        help_text="n, parrot, negatives, seed, hygiene, near_duplicate, depth, alpha, epsilon; the rest has defaults.",
    )


# --- Responses --------------------------------------------------------------------------------------------------------


class CorpusReportSerializer(serializers.Serializer[Any]):
    """``counts`` of the triples read; after a failure ``errors``, the first hundred of ``total``."""

    counts = serializers.DictField(child=serializers.IntegerField(), required=False)
    other_columns = serializers.ListField(child=serializers.CharField(), required=False)
    errors = RowErrorSerializer(many=True, required=False)  # type: ignore[assignment]  # a field that hides DRF's own
    total = serializers.IntegerField(required=False)


class CorpusSerializer(JobSerializer):
    dataset = serializers.SlugRelatedField[Dataset](
        slug_field="slug", read_only=True, help_text="The data set that it was taken from, if any."
    )
    options = serializers.JSONField(read_only=True, help_text="How the file was read, and the index's parameters.")
    report = CorpusReportSerializer(read_only=True)

    class Meta:
        model = Corpus
        fields = (
            "slug",
            *JOB_FIELDS,
            *DESCRIBED,
            "filename",
            "dataset",
            "options",
            "n_triples",
            "index_bytes",
            "index_signature",
            "content_hash",
            "report",
        )


class SearchResultSerializer(serializers.Serializer[Any]):
    triple = serializers.IntegerField(source="number", help_text="Number in the corpus, from 0.")
    score = serializers.FloatField()
    message_score = serializers.FloatField()
    response_score = serializers.FloatField()
    context = serializers.ListField(  # type: ignore[assignment]  # a field that hides DRF's own
        child=serializers.CharField(), source="triple.context"
    )
    message = serializers.CharField(source="triple.message")
    response = serializers.CharField(source="triple.response")


class MiningRunSerializer(JobSerializer):
    dataset = serializers.SlugRelatedField[Dataset](slug_field="slug", read_only=True)
    corpus = serializers.SlugRelatedField[Corpus](slug_field="slug", read_only=True)
    specification = serializers.JSONField(read_only=True)
    report = serializers.JSONField(read_only=True, help_text="Counts by kind and fate, reasons, seeds with too few.")

    class Meta:
        model = MiningRun
        fields = ("id", *JOB_FIELDS, "dataset", "corpus", "specification", "signature", "stored_at", "report")


class CandidateSerializer(AnswerSerializer):
    item = serializers.SlugRelatedField[Item](slug_field="external_id", read_only=True)

    class Meta:
        model = MinedCandidate
        fields = ("id", "item", *CANDIDATE_FIELDS)


class StoreSerializer(Strict, serializers.Serializer[Any]):
    near_duplicates = serializers.BooleanField(
        allow_null=True,
        default=None,
        help_text="true adds all near-duplicates, false none. By default, those are added that no one left out.",
    )
    leave_out = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        allow_null=True,
        default=None,
        help_text="Ids of candidates; all other near-duplicates are added.",
    )

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if data["leave_out"] is not None and data["near_duplicates"] is not None:
            raise serializers.ValidationError(
                {"leave_out": ["Found beside near_duplicates; accepted: one of the two."]}
            )
        return data


class StoredSerializer(serializers.Serializer[Any]):
    kinds = serializers.DictField(child=serializers.IntegerField(), help_text="References added, by kind of source.")
    items = serializers.IntegerField(help_text="Items with new references.")
    new_responses = serializers.IntegerField()
    known_responses = serializers.IntegerField(help_text="Existing responses that got a further source.")
    near_duplicates = serializers.IntegerField(help_text="Kept by the run, but left out.")


# --- Endpoints --------------------------------------------------------------------------------------------------------


class CorporaViewSet(JobViewSet):
    queryset = Corpus.objects.all()
    serializer_class = CorpusSerializer
    parser_classes = (MultiPartParser, StrictJSONParser)
    lookup_field = "slug"
    lookup_url_kwarg = "corpus_slug"
    lookup_value_converter = "slug"
    task = corpus_index

    def get_queryset(self) -> QuerySet[Corpus]:
        return self.project.corpora.select_related("dataset", "requested_by").defer("content")

    @extend_schema(
        request={"multipart/form-data": CorpusFileSerializer, "application/json": CorpusOfDatasetSerializer},
        responses={202: CorpusSerializer},
    )
    def create(self, request: Request, **_: Any) -> Response:
        """Create a corpus from a file or from the responses of a data set. Poll its ``url``."""
        if request.content_type.startswith("multipart/"):
            corpus = self._uploaded(request)
        else:
            data = self.validated(CorpusOfDatasetSerializer)
            dataset = self.dataset_named(data.pop("dataset"))
            options = {"index": data.pop("index", {})}
            corpus = corpus_from_dataset(project=self.project, by=self.user, dataset=dataset, options=options, **data)
        self.start(corpus)
        return self.answer(corpus, status.HTTP_202_ACCEPTED)

    def _uploaded(self, request: Request) -> Corpus:
        data = self.validated(CorpusFileSerializer)
        file: UploadedFile[bytes] = data.pop("file")
        options = {name: data.pop(name) for name in (*READING, "index") if name in data}
        return corpus_upload(
            project=self.project,
            by=self.user,
            filename=file.name or "upload",
            content=file.read(),
            options=options,
            **data,
        )

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, **_: Any) -> Response:
        """Delete a corpus that no run uses, with its files."""
        corpus_delete(corpus=self.get_object(), by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        parameters=[
            OpenApiParameter("message", str),
            OpenApiParameter("response", str),
            OpenApiParameter("n", int, description="Number of triples, 1 to 100; by default 15."),
        ],
        responses=SearchResultSerializer(many=True),
    )
    @action(detail=True, pagination_class=None)
    def search(self, request: Request, **_: Any) -> Response:
        """Return the triples with the most similar message and response, best first; none without words."""
        texts = {name: self.parameter(name) for name in ("message", "response")}
        n = self.parameter("n") or "15"
        if not (n.isascii() and n.isdecimal() and 1 <= int(n) <= 100):
            raise serializers.ValidationError({"n": [f"Found {n!r}; accepted: a whole number from 1 to 100."]})
        return Response(SearchResultSerializer(corpus_search(self.get_object(), **texts, n=int(n)), many=True).data)


class MiningRunsViewSet(JobViewSet):
    queryset = MiningRun.objects.all()
    serializer_class = MiningRunSerializer
    lookup_url_kwarg = "mining_run_pk"
    task = mining_run_execute

    def get_queryset(self) -> QuerySet[MiningRun]:
        return mining_run_rows(self.project)

    @extend_schema(request=MiningRequestSerializer, responses={202: MiningRunSerializer})
    def create(self, request: Request, **_: Any) -> Response:
        """Mine references for each seed of a data set. Poll the ``url``; the data set does not change yet."""
        data = self.validated(MiningRequestSerializer)
        dataset = self.dataset_named(data["dataset"])
        done = self.project.corpora.filter(state=JobState.DONE).defer("content", "report")
        (corpus,) = find_named(done, [data["corpus"]], field="corpus", by="slug")
        run = mining_run_create(
            project=self.project,
            dataset=dataset,
            corpus=corpus,
            specification=data.get("specification", {}),
            seed_choice=data.get("seeds", {}),
            by=self.user,
        )
        self.start(run)
        return self.answer(run, status.HTTP_202_ACCEPTED)

    @extend_schema(request=StoreSerializer, responses=StoredSerializer)
    @action(detail=True, methods=["post"])
    def store(self, request: Request, **_: Any) -> Response:
        """Add the kept candidates to the data set as references: all in one transaction, once for a run."""
        data = self.validated(StoreSerializer)
        stored = mining_run_store(run=self.get_object(), by=self.user, **data)
        return Response(StoredSerializer(stored).data)


class CandidatesViewSet(ReadViewSet):
    """Every text that a run looked at, with its fate."""

    queryset = MinedCandidate.objects.all()
    serializer_class = CandidateSerializer
    lookup_url_kwarg = "candidate_pk"

    def get_queryset(self) -> QuerySet[MinedCandidate]:
        run = get_in_project_or_404(MiningRun.objects.all(), self.project, pk=self.kwargs["mining_run_pk"])
        chosen = CandidateFilter(fate=self.parameter("fate"), kind=self.parameter("kind"), near=self._near())
        candidates = candidates_matching(run, chosen).select_related("item")
        item = self.parameter("item")
        return candidates.filter(item__external_id=item) if item else candidates

    @extend_schema(
        parameters=[
            OpenApiParameter("fate", str, enum=CandidateFate.values),
            OpenApiParameter("kind", str, enum=[SourceKind.MINED, SourceKind.PARROT, SourceKind.RANDOM]),
            OpenApiParameter("item", str, description="External id of an item."),
            OpenApiParameter("near", bool, description="Only near-duplicates."),
        ]
    )
    def list(self, request: Request, **kwargs: Any) -> Response:
        return super().list(request, **kwargs)

    def _near(self) -> bool:
        value = self.parameter("near")
        if value not in ("", "true", "false"):
            raise serializers.ValidationError({"near": [f"Found {value!r}; accepted: true or false."]})
        return value == "true"
