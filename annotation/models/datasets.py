"""Data sets: items, their responses, and the sources of each response."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models
from django.db.models import Q
from django.db.models.functions import Left, Now

from annotation.models.accounts import Project
from annotation.models.jobs import Job

# PostgreSQL's search vectors hold 1 MiB at most: only the first part of a longer text is searched.
SEARCHED_CHARACTERS = 100_000


def searched(field: str) -> SearchVector:
    """Return the words of a text, unchanged in every language. Indexed: filter by this very expression."""
    return SearchVector(Left(field, SEARCHED_CHARACTERS), config="simple")


class Dataset(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="datasets")
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60)
    description = models.TextField(blank=True)
    language = models.CharField(max_length=20, default="en", help_text="BCP 47 tag, for example en or pt-BR.")
    licence = models.CharField(max_length=200, blank=True)
    attribution = models.TextField(blank=True)
    normalisation = models.CharField(
        max_length=40, default="nfc-space", help_text="The named rule under which two texts count as the same response."
    )
    content_hash = models.CharField(
        max_length=64, blank=True, editable=False, help_text="SHA-256 of its export; empty until it is computed."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("name", "id")
        constraints = [models.UniqueConstraint(fields=["project", "slug"], name="dataset_slug_once_per_project")]

    def __str__(self) -> str:
        return self.name


class System(models.Model):
    """A named producer of responses: a model, a person, a baseline."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)

    class Meta:
        ordering = ("name",)
        constraints = [models.UniqueConstraint(fields=["dataset", "name"], name="system_name_once_per_dataset")]

    def __str__(self) -> str:
        return self.name


class Item(models.Model):
    """One prompt: context turns, the message to answer, optionally a meaning representation."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="items")
    external_id = models.CharField(max_length=200)
    position = models.PositiveIntegerField(help_text="Order in the source, from 0.")
    context = ArrayField(models.TextField(), default=list, blank=True)
    message = models.TextField(blank=True)
    meaning_representation = models.TextField(blank=True)
    split = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ("dataset", "position")
        indexes = [GinIndex(searched("message"), name="item_search")]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "external_id"], name="item_external_id_once_per_dataset"),
            models.UniqueConstraint(fields=["dataset", "position"], name="item_position_once_per_dataset"),
        ]

    def __str__(self) -> str:
        return self.external_id


class Response(models.Model):
    """One text for one item, unique under the data set's normalisation: rated once, credited to all its sources."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="responses")
    text = models.TextField(blank=True)
    text_key = models.CharField(max_length=64, help_text="SHA-256, in hexadecimal, of the normalised text.")
    turns = models.JSONField(
        null=True,
        blank=True,
        help_text="Of a dialogue: its turns, which the text joins; see annotation.core.dialogues.",
    )

    class Meta:
        ordering = ("item", "id")
        indexes = [
            GinIndex(searched("text"), name="response_search"),
            models.Index(fields=["item"], condition=Q(turns__isnull=False), name="response_dialogues"),
        ]
        constraints = [models.UniqueConstraint(fields=["item", "text_key"], name="response_text_once_per_item")]

    def __str__(self) -> str:
        return self.text[:80]


class SourceKind(models.TextChoices):
    SEED = "seed", "Original response"
    MINED = "mined", "Mined"
    PARROT = "parrot", "Parroted message"
    HUMAN = "human", "Written by a person"
    RANDOM = "random", "Random"
    SYSTEM = "system", "System output"

    @classmethod
    def of_references(cls) -> list[str]:
        """Return the kinds of source that are no outputs of systems."""
        return [kind.value for kind in cls if kind != cls.SYSTEM]


class ResponseSource(models.Model):
    """A source of a response. Identical outputs of several systems are one response with several sources."""

    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="sources")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=10, choices=SourceKind.choices)
    system = models.ForeignKey(System, null=True, blank=True, on_delete=models.CASCADE, related_name="outputs")
    rank = models.PositiveIntegerField(null=True, blank=True, help_text="Place in the mining result or reference list.")
    score = models.FloatField(null=True, blank=True, help_text="Retrieval score, where mined.")
    source_context = ArrayField(models.TextField(), default=list, blank=True)
    source_message = models.TextField(blank=True)
    raw_text = models.TextField(blank=True, help_text="The text as it came, where it differs from the response's.")
    written_by = models.ForeignKey(
        "annotation.Rater",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="sources",
        help_text="The rater who wrote it in a campaign.",
    )
    mining_run = models.ForeignKey(
        "annotation.MiningRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="sources"
    )

    class Meta:
        ordering = ("response", "id")
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=SourceKind.values), name="source_kind_known"),
            models.CheckConstraint(
                condition=Q(kind=SourceKind.SYSTEM, system__isnull=False)
                | (~Q(kind=SourceKind.SYSTEM) & Q(system__isnull=True)),
                name="source_names_a_system_iff_system_output",
            ),
            models.UniqueConstraint(
                fields=["system", "item"],
                condition=Q(system__isnull=False),
                name="source_one_output_per_system_and_item",
            ),
        ]

    def __str__(self) -> str:
        return self.system.name if self.system else self.get_kind_display()


class ResponseList(models.Model):
    """Responses that were chosen to be rated (again), by a campaign with the target “listed”."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="response_lists")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="response_lists")
    name = models.CharField(max_length=120)
    origin = models.JSONField(
        default=dict, blank=True, help_text="What chose them: a release and a reason, for example."
    )
    responses = models.ManyToManyField(Response, related_name="lists")
    created_by = models.ForeignKey("annotation.User", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.name


DATASET_FORMATS = [("jsonl", "JSON Lines"), ("csv", "CSV"), ("tsv", "TSV"), ("parquet", "Parquet")]


class DatasetImport(Job):
    """An uploaded file that becomes a data set: whole, or not at all."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="dataset_imports")
    dataset = models.ForeignKey(
        Dataset, null=True, blank=True, on_delete=models.SET_NULL, related_name="imports", help_text="Set when done."
    )
    name = models.CharField(max_length=120, help_text="Name of the data set to create.")
    filename = models.CharField(max_length=255)
    file_format = models.CharField(max_length=10, choices=DATASET_FORMATS)
    content = models.BinaryField(help_text="In the database, so that any worker on any host can read it.")
    options = models.JSONField(default=dict, blank=True)
    report = models.JSONField(default=dict, blank=True, help_text="What was found, in numbers; or every bad row.")

    def __str__(self) -> str:
        return self.filename
