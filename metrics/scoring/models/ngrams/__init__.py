"""Parts of the n-gram language model: counts, discounts, back-off, and files of other programs."""
