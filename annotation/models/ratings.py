"""Raters and their answers. Ratings are append-only: a trigger in the database refuses updates and deletes."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models import identities
from annotation.models.accounts import Project
from annotation.models.campaigns import Campaign, Criterion, Presentation
from annotation.models.datasets import Response, System
from annotation.models.jobs import Job

VALUE_OR_REASON = Q(value__gt=-1e9, value__lt=1e9, cannot_judge="") | (Q(value__isnull=True) & ~Q(cannot_judge=""))


class Rater(models.Model):
    """A pseudonym. The provider's own id is kept apart, encrypted, in ``RaterIdentity``, and can be erased."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="raters")
    pseudonym = models.CharField(max_length=60)
    access_token = models.UUIDField(
        default=uuid.uuid4, unique=True, editable=False, help_text="Kept in the rater's cookie."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=["project", "pseudonym"], name="rater_pseudonym_once_per_project")
        ]

    def __str__(self) -> str:
        return self.pseudonym


ACCOUNT, AGGREGATE = "account", "aggregate"
GIVEN_HERE = (ACCOUNT, AGGREGATE)  # identities that no one else knows: not encrypted


class RaterIdentity(models.Model):
    """Who a rater is elsewhere: what a provider or a file calls them, encrypted, or an account here."""

    ACCOUNT, AGGREGATE = ACCOUNT, AGGREGATE
    IMPORT = "import"  # the provider of raters who come in a file
    SEALED = ("sealed", "digest", "session_digest")  # what depends on the secret key

    rater = models.OneToOneField(Rater, on_delete=models.CASCADE, related_name="identity")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rater_identities")
    provider = models.CharField(max_length=20, help_text="Key of a provider; or account, import, aggregate.")
    local_id = models.CharField(
        max_length=200, blank=True, help_text="The number of an account here, or what a stand-in stands for."
    )
    sealed = models.TextField(blank=True, editable=False, help_text="The id elsewhere and the session, encrypted.")
    digest = models.CharField(max_length=identities.DIGEST, blank=True, editable=False)
    session_digest = models.CharField(
        max_length=identities.DIGEST,
        blank=True,
        editable=False,
        help_text="Of the submission under which an unconfirmed id came; empty if confirmed.",
    )

    class Meta:
        verbose_name_plural = "rater identities"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "provider", "local_id", "digest", "session_digest"],
                name="identity_once_per_project_and_provider",
            ),
            models.CheckConstraint(
                condition=Q(provider__in=GIVEN_HERE, sealed="", digest="") | (Q(local_id="") & ~Q(sealed="")),
                name="identity_from_elsewhere_is_sealed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider}: {self.pk}"

    @property
    def external_id(self) -> str:
        return self._opened["external_id"] if self.sealed else self.local_id

    @external_id.setter
    def external_id(self, text: str) -> None:
        if self.provider in GIVEN_HERE:
            self.local_id = text
        else:
            self._seal(text, self.session)

    @property
    def session(self) -> str:
        """Return the submission under which an unconfirmed id came; '' if the provider has confirmed it."""
        return self._opened["session"] if self.sealed else ""

    @session.setter
    def session(self, text: str) -> None:
        if text:
            self._seal(self.external_id, text)

    @property
    def shown_id(self) -> str:
        """Return the id for a page, or the reason why it cannot be read."""
        return identities.shown(self.sealed) if self.sealed else self.local_id

    def reseal(self) -> bool:
        """Encrypt it under the present key; return False if it is already."""
        if not self.sealed or identities.is_current(self.digest):
            return False
        self._seal(self.external_id, self.session)
        return True

    @property
    def _opened(self) -> dict[str, str]:
        return identities.opened(self.sealed)

    def _seal(self, external_id: str, session: str) -> None:
        self.sealed = identities.seal(external_id=external_id, session=session)
        self.digest = identities.digest_of(external_id)
        self.session_digest = identities.digest_of(session) if session else ""


class Stage(models.TextChoices):
    TRAINING = "training", "In training"
    TEST = "test", "In the qualification test"
    WORK = "work", "At work"
    FAILED = "failed", "Did not qualify"


class Participation(models.Model):
    """A rater in a campaign: agreed, training, at work, finished or excluded."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="participations")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="participations")
    order_seed = models.BigIntegerField(help_text="The rater's own order over the units follows from it.")
    joined_at = models.DateTimeField(db_default=Now(), editable=False)
    consented_at = models.DateTimeField(null=True, blank=True)
    questions_answered_at = models.DateTimeField(
        null=True, blank=True, help_text="When the rater sent the answers to the campaign's questions about raters."
    )
    stage = models.CharField(max_length=8, choices=Stage.choices, default=Stage.WORK)
    attempt = models.PositiveSmallIntegerField(default=0, help_text="At the qualification test, from 1.")
    qualified_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    skips_offered_at = models.DateTimeField(
        null=True, blank=True, help_text="Units skipped before this moment are handed out again, after all others."
    )
    excluded_at = models.DateTimeField(null=True, blank=True, help_text="Why stands in the rater decisions.")
    flagged_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=["campaign", "rater"], name="participation_once_per_campaign"),
            models.CheckConstraint(condition=Q(stage__in=Stage.values), name="participation_stage_known"),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} in {self.campaign_id}"


class RaterAnswer(models.Model):
    """What a rater answered about themselves: personal data, which is erased with the rater's identity."""

    participation = models.ForeignKey(Participation, on_delete=models.CASCADE, related_name="answers")
    question = models.CharField(max_length=40, help_text="Its name in the campaign's design.")
    values = ArrayField(models.TextField(), help_text="One text, or each answer that was chosen; a number as text.")
    answered_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=["participation", "question"], name="rater_answer_once_per_question")
        ]

    def __str__(self) -> str:
        return f"{self.question}: {', '.join(self.values)}"


class Rating(models.Model):
    """A value on a criterion for a response by a rater. A correction is a new row with a higher revision."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="ratings", db_index=False)
    presentation = models.ForeignKey(Presentation, on_delete=models.PROTECT, related_name="ratings")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="ratings")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="ratings")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="ratings")
    rated_as = models.ForeignKey(
        System,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The system under whose name an imported judgement was made.",
    )
    turn = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Of the dialogue, from 0; null if the criterion is about the whole response."
    )
    value = models.FloatField(null=True, help_text="Null where the rater could not judge.")
    cannot_judge = models.CharField(max_length=80, blank=True, db_default="", help_text="The reason given.")
    position = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="On screen, from 0; unknown if imported."
    )
    revision = models.PositiveSmallIntegerField(default=0)
    extra = models.BooleanField(
        default=False, help_text="Sent after the slot had gone to someone else: kept and paid, not counted."
    )
    sent_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=["presentation", "response", "criterion", "turn", "revision"],
                nulls_distinct=False,
                name="rating_once_per_revision",
            ),
            models.CheckConstraint(condition=VALUE_OR_REASON, name="rating_value_or_reason"),
        ]
        # The newest of a campaign, and whether there is a newer one, without a walk over all of them.
        indexes = [
            models.Index(fields=["campaign", "created_at"], name="rating_campaign_time"),
            models.Index(fields=["campaign", "id"], name="rating_by_campaign"),
        ]

    def __str__(self) -> str:
        return self.cannot_judge if self.value is None else f"{self.value:g}"


class CheckAnswer(models.Model):
    """A value on a criterion for a text of a screen that is no work. Append-only like ratings; never weighed."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="check_answers", db_index=False)
    presentation = models.ForeignKey(Presentation, on_delete=models.PROTECT, related_name="check_answers")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="check_answers")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="check_answers")
    number = models.PositiveSmallIntegerField(help_text="Of the text, in the canonical order; from 0.")
    position = models.PositiveSmallIntegerField(help_text="On screen, from 0.")
    turn = models.PositiveSmallIntegerField(null=True, blank=True, help_text="As of a rating.")
    value = models.FloatField(null=True)
    cannot_judge = models.CharField(max_length=80, blank=True)
    revision = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=["presentation", "number", "criterion", "turn", "revision"],
                nulls_distinct=False,
                name="check_answer_once_per_revision",
            ),
            models.CheckConstraint(condition=VALUE_OR_REASON, name="check_answer_value_or_reason"),
        ]
        indexes = [
            models.Index(fields=["campaign", "rater"], name="check_answer_by_rater"),
            models.Index(fields=["campaign", "id"], name="check_answer_by_campaign"),
        ]

    def __str__(self) -> str:
        return self.cannot_judge if self.value is None else f"{self.value:g}"


class Comment(models.Model):
    """A rater's comment on a screen. Append-only; a changed comment is a new revision."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="comments")
    presentation = models.ForeignKey(Presentation, on_delete=models.PROTECT, related_name="comments")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="comments")
    text = models.TextField(blank=True)
    revision = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=["presentation", "revision"], name="comment_once_per_revision")]

    def __str__(self) -> str:
        return self.text[:80]


class WrittenText(models.Model):
    """A text that a rater wrote for an item. Append-only, but for its source; a changed text is a new revision."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="written_texts")
    presentation = models.ForeignKey(Presentation, on_delete=models.PROTECT, related_name="written_texts")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="written_texts")
    given = models.ForeignKey(
        Response,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="corrections",
        help_text="The response that it corrects.",
    )
    text = models.TextField()
    revision = models.PositiveSmallIntegerField(default=0)
    pasted = models.PositiveIntegerField(default=0, help_text="Characters that the browser reported as pasted.")
    remarks = ArrayField(models.CharField(max_length=20), default=list, blank=True, help_text="What stands out in it.")
    source = models.ForeignKey(
        "annotation.ResponseSource",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="In the data set, once it was added there.",
    )
    sent_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=["presentation", "revision"], name="written_text_once_per_revision")
        ]

    def __str__(self) -> str:
        return self.text[:80]


class AnswerDraft(models.Model):
    """Answers on a screen that are not sent yet, so that the rater can continue in another browser."""

    presentation = models.OneToOneField(Presentation, on_delete=models.CASCADE, related_name="draft")
    fields = models.JSONField(default=dict)
    saved_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.presentation_id}"


class RatingImport(Job):
    """An uploaded file of judgements that becomes an imported campaign: whole, or not at all."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rating_imports")
    campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.SET_NULL, related_name="imports", help_text="Set when done."
    )
    dataset = models.ForeignKey("annotation.Dataset", on_delete=models.CASCADE, related_name="rating_imports")
    name = models.CharField(max_length=120, help_text="Name of the campaign to create.")
    filename = models.CharField(max_length=255)
    file_format = models.CharField(
        max_length=10, choices=[("jsonl", "JSON Lines"), ("json", "JSON"), ("csv", "CSV"), ("tsv", "TSV")]
    )
    content = models.BinaryField()
    options = models.JSONField(default=dict, blank=True)
    report = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return self.filename
