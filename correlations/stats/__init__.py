"""Correlation of metrics with human ratings: coefficients, sampled units, significance, resampling.

Arrays in, arrays and small results out; no framework, no input or output. See ``sampled_units`` first.
"""
