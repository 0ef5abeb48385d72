"""Explanations of the score of one segment."""
