"""PURE. A document of text, tables and charts, and how it is written as PDF and as LaTeX."""
