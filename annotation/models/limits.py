"""How often something was done lately: shared by all processes, on every host."""

from django.db import models


class LimitCount(models.Model):
    """Uses that count towards a limit, within a window that begins with the first of them."""

    key = models.CharField(max_length=100, primary_key=True)
    uses = models.PositiveIntegerField()
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key}: {self.uses}"
