"""What a campaign's checks, training and qualification test are: plain data, checked on its way in.

Pure: no framework, no database.
"""

from annotation.campaigns.design.compare import Change, Difference, compare_designs
from annotation.campaigns.design.quality import (
    CHECK_KINDS,
    DEGRADATIONS,
    DesignError,
    PreparedScreen,
    PreparedText,
    QualificationDesign,
    QualityDesign,
)
from annotation.campaigns.design.templates import ALL_TEMPLATES, BLANK, TEMPLATES, Template

__all__ = [
    "ALL_TEMPLATES",
    "BLANK",
    "CHECK_KINDS",
    "DEGRADATIONS",
    "TEMPLATES",
    "Change",
    "DesignError",
    "Difference",
    "PreparedScreen",
    "PreparedText",
    "QualificationDesign",
    "QualityDesign",
    "Template",
    "compare_designs",
]
