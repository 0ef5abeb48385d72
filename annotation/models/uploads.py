"""Files that wait on a form."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.accounts import Project, User


class KeptFile(models.Model):
    """The file of a form that was refused or shows a preview, so that its user need not choose it again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    filename = models.CharField(max_length=255)
    content = models.BinaryField(help_text="In the database, so that any process on any host can read it.")
    kept_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.filename
