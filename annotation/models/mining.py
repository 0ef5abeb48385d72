"""Corpora of conversations, and the references that are mined from them."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.accounts import Project
from annotation.models.campaigns import Campaign
from annotation.models.datasets import Dataset, Item, Response
from annotation.models.jobs import Job, JobState


class Corpus(Job):
    """Context-message-response triples, indexed on disk under ``folder``. Done: it can be mined, and never changes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="corpora")
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60)
    description = models.TextField(blank=True)
    language = models.CharField(max_length=20, default="en", help_text="BCP 47 tag, for example en or pt-BR.")
    licence = models.CharField(max_length=200, blank=True)
    attribution = models.TextField(blank=True)
    filename = models.CharField(max_length=255, blank=True, help_text="Empty where it was taken from a data set.")
    dataset = models.ForeignKey(
        Dataset,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="corpora",
        help_text="Whose references, with their items' conversations, are the triples.",
    )
    content = models.BinaryField(
        null=True, editable=False, help_text="An uploaded file until it is indexed: any worker can read it here."
    )
    options = models.JSONField(default=dict, blank=True, help_text="How to read the file, and the index's parameters.")
    folder = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    n_triples = models.PositiveBigIntegerField(default=0)
    index_bytes = models.PositiveBigIntegerField(default=0)
    index_signature = models.CharField(max_length=200, blank=True)
    content_hash = models.CharField(max_length=64, blank=True, help_text="SHA-256 over the triples in order.")
    report = models.JSONField(default=dict, blank=True, help_text="What was found, in numbers; or every bad line.")

    class Meta(Job.Meta):
        verbose_name_plural = "corpora"
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["project", "slug"], name="corpus_slug_once_per_project"),
            models.CheckConstraint(
                condition=~Q(state=JobState.DONE) | ~Q(content_hash=""), name="corpus_done_is_hashed"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class MiningRun(Job):
    """Candidates for every seed of a data set, from one corpus. At ``stored_at`` they became references."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="mining_runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="mining_runs")
    corpus = models.ForeignKey(Corpus, on_delete=models.PROTECT, related_name="mining_runs")
    specification = models.JSONField(default=dict, help_text="See annotation.mining.MiningSpecification.")
    signature = models.CharField(max_length=600, blank=True)
    report = models.JSONField(default=dict, blank=True, help_text="Counts of candidates by kind and by what became.")
    stored_at = models.DateTimeField(null=True, blank=True, editable=False)

    def __str__(self) -> str:
        return f"Mining {self.pk}"


class MiningShard(Job):
    """Some seeds of a run, which one worker takes. Finished shards stay finished if a worker dies."""

    is_piece = True
    run = models.ForeignKey(MiningRun, on_delete=models.CASCADE, related_name="shards")
    number = models.PositiveIntegerField()
    item_ids = ArrayField(models.BigIntegerField())

    class Meta(Job.Meta):
        ordering = ("run", "number")
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["run", "number"], name="shard_number_once_per_run"),
        ]

    def __str__(self) -> str:
        return f"{self.run}, shard {self.number}"


class CandidateFate(models.TextChoices):
    KEPT = "kept", "Kept"
    DUPLICATE = "duplicate", "Same as another text"
    DROPPED = "dropped", "Taken out by a hygiene step"


class MinedCandidate(models.Model):
    """A text that a run found for a seed, and whether it was kept."""

    run = models.ForeignKey(MiningRun, on_delete=models.CASCADE, related_name="candidates")
    shard = models.ForeignKey(MiningShard, on_delete=models.CASCADE, related_name="candidates")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="candidates")
    kind = models.CharField(max_length=10, help_text="mined, parrot or random; see SourceKind.")
    rank = models.PositiveIntegerField(help_text="Within its kind, from 1.")
    score = models.FloatField(null=True, blank=True)
    message_score = models.FloatField(null=True, blank=True)
    response_score = models.FloatField(null=True, blank=True)
    text = models.TextField(blank=True)
    text_key = models.CharField(max_length=64)
    raw_text = models.TextField(blank=True, help_text="As the corpus has it, where a hygiene step changed it.")
    triple = models.BigIntegerField(null=True, blank=True, help_text="Number in the corpus, from 0; a parrot has none.")
    source_context = ArrayField(models.TextField(), default=list, blank=True)
    source_message = models.TextField(blank=True)
    fate = models.CharField(max_length=10, choices=CandidateFate.choices)
    reasons = ArrayField(
        models.CharField(max_length=80), default=list, blank=True, help_text="Why it was not kept, or what was masked."
    )
    near_duplicate = models.CharField(
        max_length=40, blank=True, help_text="Of which text: seed, or kind and rank, as in mined 3."
    )
    left_out = models.BooleanField(
        default=False, db_default=False, help_text="A kept near-duplicate that is not to be added to the data set."
    )

    class Meta:
        ordering = ("item__position", "kind", "rank")
        constraints = [
            models.UniqueConstraint(fields=["run", "item", "kind", "rank"], name="candidate_rank_once_per_item"),
            models.CheckConstraint(condition=Q(fate__in=CandidateFate.values), name="candidate_fate_known"),
            models.CheckConstraint(
                condition=Q(left_out=False) | (Q(fate=CandidateFate.KEPT) & ~Q(near_duplicate="")),
                name="candidate_left_out_is_near_duplicate",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.rank}"


class SeedSelection(models.Model):
    """Items whose original response is rated well enough, put into splits at random."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="seed_selections")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="seed_selections")
    campaigns = models.ManyToManyField(Campaign, related_name="seed_selections")
    threshold = models.FloatField(help_text="Least mean rating, on the campaigns' scale.")
    shares = models.JSONField(help_text='Of each split, by name: {"dev": 0.5, "test": 0.5}.')
    seed = models.BigIntegerField()
    report = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey("annotation.User", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=["dataset"], name="seeds_selected_once_per_dataset")]

    def __str__(self) -> str:
        return f"Seeds of {self.dataset}"


class SeedMember(models.Model):
    """A seed as it was selected. It stays, marked, if its mean falls below the threshold later."""

    selection = models.ForeignKey(SeedSelection, on_delete=models.CASCADE, related_name="members")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="seed_memberships")
    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="seed_memberships")
    split = models.CharField(max_length=40)
    rating_mean = models.FloatField()
    n_ratings = models.PositiveIntegerField()

    class Meta:
        ordering = ("selection", "item__position")
        constraints = [models.UniqueConstraint(fields=["selection", "item"], name="seed_once_per_selection")]

    def __str__(self) -> str:
        return f"{self.item} ({self.split})"
