"""The problems of ``annotation.problems``, where the imports' other parts are found."""

from annotation.problems import Problems, problem_sentence, shown, storable, storable_json

__all__ = ["Problems", "problem_sentence", "shown", "storable", "storable_json"]
