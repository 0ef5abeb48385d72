"""How many examples Hypothesis tries; ``--hypothesis-profile=thorough`` tries four times as many.

An example may take long on a busy machine; that is no failure.
"""

from hypothesis import settings

settings.register_profile("usual", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("usual")
