"""How an account signs in, beside its password: a second factor, and identities of single sign-on."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.accounts import User


class SecondFactor(models.Model):
    """An authenticator app of an account. Its secret is encrypted: see ``annotation.accounts.services``."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="second_factor")
    sealed = models.TextField(editable=False)
    last_step = models.BigIntegerField(
        default=0, editable=False, help_text="The time step of the last code that was accepted; no earlier one is."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"Second factor of {self.user}"


class RecoveryCode(models.Model):
    """A code that stands in for the authenticator app once. It is encrypted, to be shown to its owner again."""

    factor = models.ForeignKey(SecondFactor, on_delete=models.CASCADE, related_name="recovery_codes")
    sealed = models.TextField(editable=False)
    used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"Recovery code {self.pk}"


class Identity(models.Model):
    """A person as a provider of single sign-on knows them, and the account that this person signs in to."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255, editable=False)
    subject = models.CharField(max_length=255, editable=False, help_text="The provider's own name for the person.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    last_used_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("id",)
        verbose_name_plural = "identities"
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_of_one_account"),
            models.UniqueConstraint(fields=["user", "issuer"], name="identity_once_per_issuer"),
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"
