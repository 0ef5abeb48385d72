"""What the command line refuses, for people to read."""


class CommandError(ValueError):
    """A file or an option is wrong: which, where, what was found, what is accepted."""
