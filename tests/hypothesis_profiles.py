"""How many examples Hypothesis tries, and which.

The usual examples are the same in every run, so that what fails fails again and what passes does not fail elsewhere.
``--hypothesis-profile=thorough`` looks for new ones, four times as many.

An example may take long on a busy machine; that is no failure.
"""

from hypothesis import settings

settings.register_profile("usual", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("usual")
