"""What the n-gram language model is made of: counts, discounts, back-off, and files of other programs."""
