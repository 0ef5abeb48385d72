"""Parts of word vectors: words, files of other programs, folders, training."""
