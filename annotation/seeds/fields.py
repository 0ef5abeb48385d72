"""Form fields about corpora."""

from django import forms

from annotation.models import Corpus


class CorpusField(forms.ModelChoiceField):  # type: ignore[type-arg] # it takes none when it runs
    """A corpus, by its name and size."""

    def label_from_instance(self, obj: Corpus) -> str:
        return f"{obj.name} ({obj.n_triples:,} triples)"
