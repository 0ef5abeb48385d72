"""Errors of the command line."""


class CommandError(ValueError):
    """A file or an option is wrong: which, where, what was found, what is accepted."""
