"""Any of a list of answers."""

from django.utils.translation import gettext

from annotation.campaigns.questions.choice import Choice


class Several(Choice):
    key = "several"
    choice = "Any of several answers"

    @property
    def summary(self) -> str:
        return f"any of: {'; '.join(self.question.options)}"

    def accepted(self, values: list[str]) -> list[str]:
        """Return the answers in the order in which they are offered."""
        if set(values) - set(self.question.options):
            raise ValueError(gettext("Please choose among the answers."))
        return [option for option in self.question.options if option in values]
