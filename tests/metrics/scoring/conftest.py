from hypothesis import settings

# An example may take long on a busy machine; that is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
