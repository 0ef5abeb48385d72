"""What a person fills in: a score run, a trained model, scores made elsewhere, texts to play with."""
