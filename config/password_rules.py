"""What a password must be, and what to do about one that is not: Django's checks in the product's words."""

from django.contrib.auth import password_validation as django_rules


class LongEnough(django_rules.MinimumLengthValidator):
    def get_error_message(self) -> str:
        return f"Choose at least {self.min_length} characters."

    def get_help_text(self) -> str:
        return f"At least {self.min_length} characters."


class UnlikeTheAccount(django_rules.UserAttributeSimilarityValidator):
    def get_error_message(self) -> str:
        return "Choose something less like your %(verbose_name)s."

    def get_help_text(self) -> str:
        return "Not like your name or email address."


class Uncommon(django_rules.CommonPasswordValidator):
    def get_error_message(self) -> str:
        return "Many people use this password, so it is guessed first: choose another."

    def get_help_text(self) -> str:
        return "Not one that many people use."


class NotOnlyDigits(django_rules.NumericPasswordValidator):
    def get_error_message(self) -> str:
        return "Choose something with letters, too."

    def get_help_text(self) -> str:
        return "Not digits alone."
