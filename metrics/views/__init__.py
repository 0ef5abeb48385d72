"""Pages of score runs. A view settles who may see the run, calls one verb, and answers or redirects."""
