"""Pages of studies. A view settles who may see the study, calls one verb, and answers or redirects."""
