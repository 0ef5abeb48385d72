"""Forms of score runs, trained models, imports of scores and the playground."""
