"""What word vectors are made of: words, files of other programs, folders, training."""
