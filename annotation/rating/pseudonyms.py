"""Pseudonyms that Assay makes: of anonymous raters, and of raters of imported ratings, medians and means."""

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters that look alike
MADE_HERE = rf"rater-[{LETTERS}]{{8}}|J-[0-9]+|(median|mean)(-[0-9]+)?"  # any other was typed by a person
