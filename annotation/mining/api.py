"""Corpora of conversations, and references mined from them."""

import json
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.access import get_in_project_or_404
from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet, ReadViewSet, Strict, find_named
from annotation.datasets.api.imports import RowErrorSerializer
from annotation.mining.opening import COMPRESSIONS, FORMATS
from annotation.mining.selectors import CandidateFilter, candidates_matching, corpus_search
from annotation.mining.services import (
    corpus_delete,
    corpus_from_dataset,
    corpus_upload,
    mining_run_create,
    mining_run_store,
)
from annotation.mining.tasks import corpus_index, mining_run_execute
from annotation.models import CandidateFate, Corpus, Dataset, Item, JobState, MinedCandidate, MiningRun, SourceKind

DESCRIBED = ("name", "description", "language", "licence", "attribution")

# --- What is asked ----------------------------------------------------------------------------------------------------


class JsonTextField(serializers.JSONField):
    """An object; in multipart, its JSON text."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str):
            try:
                data = json.loads(data)
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
    file = serializers.FileField(help_text="JSON Lines, TSV or Parquet, perhaps compressed with gzip or Zstandard.")
    file_format = serializers.ChoiceField(
        choices=list(FORMATS.items()), required=False, help_text="Where content and name do not tell it."
    )
    compression = serializers.ChoiceField(
        choices=list(COMPRESSIONS.items()), required=False, help_text="Where the content does not tell it."
    )
    columns = JsonTextField(required=False, help_text="Named otherwise: {“message”: “post”, “response”: “reply”}.")
    header = serializers.BooleanField(default=True, help_text="Does the first line of a TSV name its columns?")
    turn_separator = serializers.CharField(required=False, max_length=20, help_text="In a context that is one text.")

    class Meta(CorpusAboutSerializer.Meta):
        fields = (
            *CorpusAboutSerializer.Meta.fields,
            "file",
            "file_format",
            "compression",
            "columns",
            "header",
            "turn_separator",
        )

    def validate_file(self, file: "UploadedFile[bytes]") -> "UploadedFile[bytes]":
        if file.size is not None and file.size > settings.UPLOAD_MAX_BYTES:
            raise serializers.ValidationError(
                f"Found {file.size} bytes; accepted: at most {settings.UPLOAD_MAX_BYTES}, or any size by the command "
                "import_corpus."
            )
        return file


class CorpusOfDatasetSerializer(CorpusAboutSerializer):
    dataset = serializers.SlugField(help_text="Slug of the data set whose responses are taken.")
    source_kinds = serializers.ListField(child=serializers.CharField(), default=list)
    source_systems = serializers.ListField(child=serializers.CharField(), default=list)

    class Meta(CorpusAboutSerializer.Meta):
        fields = (*CorpusAboutSerializer.Meta.fields, "dataset", "source_kinds", "source_systems")


class SeedChoiceSerializer(Strict, serializers.Serializer[Any]):
    kind = serializers.CharField(required=False, help_text="Of source; “seed” where neither is given.")
    system = serializers.CharField(required=False, help_text="Name of the system whose outputs are the seeds.")
    splits = serializers.ListField(child=serializers.CharField(), default=list, help_text="None: all items.")


class MiningRequestSerializer(Strict, serializers.Serializer[Any]):
    dataset = serializers.SlugField()
    corpus = serializers.SlugField()
    seeds = SeedChoiceSerializer(required=False)
    specification = serializers.DictField(
        required=False,
        help_text="n, parrot, negatives, seed, hygiene, near_duplicate, depth, alpha, epsilon; the rest has defaults.",
    )


# --- What is shown ----------------------------------------------------------------------------------------------------


class CorpusReportSerializer(serializers.Serializer[Any]):
    """``counts`` of what was read once it is done; ``errors`` (the first hundred of ``total``) where it failed."""

    counts = serializers.DictField(child=serializers.IntegerField(), required=False)
    other_columns = serializers.ListField(child=serializers.CharField(), required=False)
    errors = RowErrorSerializer(many=True, required=False)  # type: ignore[assignment]  # a field that hides DRF's own
    total = serializers.IntegerField(required=False)


class CorpusSerializer(JobSerializer):
    dataset = serializers.SlugRelatedField[Dataset](
        slug_field="slug", read_only=True, help_text="Where it was taken from one."
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
        read_only_fields = fields


class FoundSerializer(serializers.Serializer[Any]):
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
    report = serializers.JSONField(read_only=True, help_text="Counts by kind and fate, reasons, seeds left short.")

    class Meta:
        model = MiningRun
        fields = ("id", *JOB_FIELDS, "dataset", "corpus", "specification", "signature", "stored_at", "report")
        read_only_fields = fields


class CandidateSerializer(serializers.ModelSerializer[MinedCandidate]):
    item = serializers.SlugRelatedField[Item](slug_field="external_id", read_only=True)

    class Meta:
        model = MinedCandidate
        fields = (
            "id",
            "item",
            "kind",
            "rank",
            "score",
            "message_score",
            "response_score",
            "text",
            "raw_text",
            "fate",
            "reasons",
            "near_duplicate",
            "left_out",
            "triple",
            "source_context",
            "source_message",
        )
        read_only_fields = fields


class StoreSerializer(Strict, serializers.Serializer[Any]):
    near_duplicates = serializers.BooleanField(
        allow_null=True,
        default=None,
        help_text="Those marked as nearly another, better ranked text: true adds all, false none. Without it, as was "
        "chosen one by one, which is all unless somebody chose.",
    )
    leave_out = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        allow_null=True,
        default=None,
        help_text="Or: all near-duplicates but these, by the ids of candidates.",
    )

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if data["leave_out"] is not None and data["near_duplicates"] is not None:
            raise serializers.ValidationError(
                {"leave_out": ["Found beside near_duplicates; accepted: one of the two."]}
            )
        return data


class StoredSerializer(serializers.Serializer[Any]):
    kinds = serializers.DictField(child=serializers.IntegerField(), help_text="References added, by kind of source.")
    items = serializers.IntegerField(help_text="That have new references.")
    new_responses = serializers.IntegerField()
    known_responses = serializers.IntegerField(help_text="That were there already and got a further source.")
    near_duplicates = serializers.IntegerField(help_text="Kept by the run, and left out here.")


# --- Endpoints --------------------------------------------------------------------------------------------------------


class CorporaViewSet(JobViewSet):
    queryset = Corpus.objects.all()
    serializer_class = CorpusSerializer
    parser_classes = (MultiPartParser, JSONParser)
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
        """A new corpus, from a file or from the responses of a data set. Poll its ``url``."""
        if request.content_type.startswith("multipart/"):
            corpus = self._uploaded(request)
        else:
            asked = self.validated(CorpusOfDatasetSerializer)
            (dataset,) = find_named(self.project.datasets.all(), [asked.pop("dataset")], field="dataset", by="slug")
            options = {"index": asked.pop("index", {})}
            corpus = corpus_from_dataset(project=self.project, by=self.user, dataset=dataset, options=options, **asked)
        self.start(corpus)
        return self.answer(corpus, status.HTTP_202_ACCEPTED)

    def _uploaded(self, request: Request) -> Corpus:
        asked = self.validated(CorpusFileSerializer)
        file: UploadedFile[bytes] = asked.pop("file")
        reading = ("file_format", "compression", "columns", "header", "turn_separator", "index")
        options = {name: asked.pop(name) for name in reading if name in asked}
        return corpus_upload(
            project=self.project,
            by=self.user,
            filename=file.name or "upload",
            content=file.read(),
            options=options,
            **asked,
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
            OpenApiParameter("n", int, description="How many, 1 to 100; by default 15."),
        ],
        responses=FoundSerializer(many=True),
    )
    @action(detail=True, pagination_class=None)
    def search(self, request: Request, **_: Any) -> Response:
        """The triples whose message and response are most similar to these, best first; to no words, none is."""
        asked = {name: self.parameter(name) for name in ("message", "response")}
        n = self.parameter("n") or "15"
        if not (n.isascii() and n.isdecimal() and 1 <= int(n) <= 100):
            raise serializers.ValidationError({"n": [f"Found {n!r}; accepted: a whole number from 1 to 100."]})
        return Response(FoundSerializer(corpus_search(self.get_object(), **asked, n=int(n)), many=True).data)


class MiningRunsViewSet(JobViewSet):
    queryset = MiningRun.objects.all()
    serializer_class = MiningRunSerializer
    lookup_field = "pk"
    lookup_url_kwarg = "mining_run_pk"
    lookup_value_converter = "int"
    task = mining_run_execute

    def get_queryset(self) -> QuerySet[MiningRun]:
        found = self.project.mining_runs.select_related("dataset", "corpus", "requested_by")
        return found.defer("corpus__content", "corpus__report")

    @extend_schema(request=MiningRequestSerializer, responses={202: MiningRunSerializer})
    def create(self, request: Request, **_: Any) -> Response:
        """Look for references of each seed of a data set in a corpus. Poll its ``url``; nothing is stored yet."""
        asked = self.validated(MiningRequestSerializer)
        (dataset,) = find_named(self.project.datasets.all(), [asked["dataset"]], field="dataset", by="slug")
        done = self.project.corpora.filter(state=JobState.DONE).defer("content", "report")
        (corpus,) = find_named(done, [asked["corpus"]], field="corpus", by="slug")
        run = mining_run_create(
            project=self.project,
            dataset=dataset,
            corpus=corpus,
            specification=asked.get("specification", {}),
            seed_choice=asked.get("seeds", {}),
            by=self.user,
        )
        self.start(run)
        return self.answer(run, status.HTTP_202_ACCEPTED)

    @extend_schema(request=StoreSerializer, responses=StoredSerializer)
    @action(detail=True, methods=["post"])
    def store(self, request: Request, **_: Any) -> Response:
        """Make what was kept references of the data set: all in one transaction, once for a run."""
        asked = StoreSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        stored = mining_run_store(run=self.get_object(), by=self.user, **asked.validated_data)
        return Response(StoredSerializer(stored).data)


class CandidatesViewSet(ReadViewSet):
    """Every text that a run looked at, with what became of it."""

    queryset = MinedCandidate.objects.all()
    serializer_class = CandidateSerializer
    lookup_url_kwarg = "candidate_pk"
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[MinedCandidate]:
        run = get_in_project_or_404(MiningRun.objects.all(), self.project, pk=self.kwargs["mining_run_pk"])
        chosen = CandidateFilter(fate=self.parameter("fate"), kind=self.parameter("kind"), near=self._near())
        found = candidates_matching(run, chosen).select_related("item")
        item = self.parameter("item")
        return found.filter(item__external_id=item) if item else found

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
        found = self.parameter("near")
        if found not in ("", "true", "false"):
            raise serializers.ValidationError({"near": [f"Found {found!r}; accepted: true or false."]})
        return found == "true"
