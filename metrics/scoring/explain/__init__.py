"""Where the score of one segment comes from, piece by piece."""
