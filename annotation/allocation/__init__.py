"""Who rates what, in which order: decisions on plain values, without a database."""
