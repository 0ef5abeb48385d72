"""Coefficients of agreement between a metric and human ratings. Each is one module and one line of ``registry``."""
