"""Charts: arrays in, checked Vega-Lite specifications out.

Every function takes ``theme`` ("light" or "dark"), ``width`` ("container" fills the page's element, or pixels), and
returns a dict that any Vega-Lite 6 runtime draws, Vega's CSP-safe expression interpreter included.
"""

from correlations.charts.forest import ForestRow, forest_plot
from correlations.charts.observations import observation_scatter
from correlations.charts.parameters import ParameterAxis, parameter_chart
from correlations.charts.sweeps import sweep_chart

__all__ = [
    "ForestRow",
    "ParameterAxis",
    "forest_plot",
    "observation_scatter",
    "parameter_chart",
    "sweep_chart",
]
