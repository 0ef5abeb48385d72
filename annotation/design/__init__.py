"""What a campaign's checks, training and qualification test are: plain data, checked on its way in.

Pure: no framework, no database.
"""

from annotation.design.quality import (
    CHECK_KINDS,
    DEGRADATIONS,
    DesignError,
    PreparedScreen,
    PreparedText,
    QualificationDesign,
    QualityDesign,
)

__all__ = [
    "CHECK_KINDS",
    "DEGRADATIONS",
    "DesignError",
    "PreparedScreen",
    "PreparedText",
    "QualificationDesign",
    "QualityDesign",
]
