"""Help in the product: the glossary, what each page and column means, and the documents of ``docs/``, all offline."""
