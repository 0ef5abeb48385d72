"""From ratings to weights in [-1, +1], with their uncertainty; agreement; rater quality.

Pure functions on arrays: usable from a notebook without the rest of Assay.
"""
