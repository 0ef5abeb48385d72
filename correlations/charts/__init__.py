"""Charts: arrays in, checked Vega-Lite specifications out.

Every function takes ``theme`` ("light" or "dark"), ``width`` ("container" fills the page's element, or pixels), and
returns a dict that any Vega-Lite 6 runtime draws, Vega's CSP-safe expression interpreter included.
"""
