"""Forms to draw candidates and to select seeds."""

from typing import Any, ClassVar

from django import forms
from django.http import QueryDict

from annotation.core.forms import RefusableForm, offer_rows
from annotation.core.normalisation import DEFAULT_RULE, RULE_CHOICES
from annotation.models import Campaign, Corpus, Dataset, JobState, Project
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.seeds.criteria import CRITERIA, LARGEST_SEED
from annotation.seeds.hygiene_forms import HygieneForm
from annotation.seeds.selectors import seed_campaigns
from annotation.seeds.services.sampling import MOST_SAMPLED
from annotation.seeds.services.selections import SelectionRules

RANDOM_SEED = 20150726
PAPERS_CANDIDATES = 33_000


class CorpusField(forms.ModelChoiceField):  # type: ignore[type-arg] # it takes none when it runs
    """A corpus, by its name and size."""

    def label_from_instance(self, obj: Corpus) -> str:
        return f"{obj.name} ({obj.n_triples:,} triples)"


class SampleForm(HygieneForm):
    makes = "data set"
    corpus = CorpusField(Corpus.objects.none(), empty_label=None)
    name = forms.CharField(label="Name of the new data set", max_length=120)
    n = forms.IntegerField(
        label="Triples",
        min_value=1,
        max_value=MOST_SAMPLED,
        help_text="Drawn at random, each at most once. The ΔBLEU paper used about 33,000.",
    )
    seed = forms.IntegerField(
        label="Seed of the random numbers",
        min_value=0,
        max_value=LARGEST_SEED,
        initial=RANDOM_SEED,
        help_text="The same one draws the same triples from the same corpus.",
    )
    normalisation = forms.ChoiceField(
        label="Treat two texts of an item as one response if they are", choices=RULE_CHOICES, initial=DEFAULT_RULE
    )
    hygiene_names: ClassVar[tuple[str, ...]] = (*HygieneForm.mask_names, "language", "min_tokens", "max_tokens")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        corpora = Corpus.objects.filter(project=project, state=JobState.DONE).defer("content", "report")
        self.corpora = list(corpora)
        offer_rows(self, "corpus", corpora)
        most = max((corpus.n_triples for corpus in self.corpora), default=0)
        self.fields["n"].initial = min(PAPERS_CANDIDATES, most) or None

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in self.hygiene_names]

    @property
    def hygiene(self) -> list[forms.BoundField]:
        return [self[name] for name in self.hygiene_names]

    @property
    def hygiene_open(self) -> bool:
        return any(name in self.errors or self[name].value() for name in self.hygiene_names)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``seeds_sample``."""
        names = ("corpus", "name", "n", "seed", "normalisation")
        return {**{name: self.cleaned_data[name] for name in names}, "hygiene": self.steps()}

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        return super().input_of(self.input_of_step(path))


class SharesField(forms.CharField):
    """Read names of splits with their shares, such as “dev 0.5, test 0.5”."""

    def clean(self, value: Any) -> dict[str, float]:
        text = super().clean(value)
        shares: dict[str, float] = {}
        for part in (piece.strip() for piece in text.replace("\n", ",").split(",")):
            if not part:
                continue
            name, _, share = part.rpartition(" ")
            name = name.strip().rstrip(":=").strip()
            try:
                number = float(share)
            except ValueError:
                number = float("nan")
            if not name or number != number:
                raise forms.ValidationError(f"Found “{part}”; accepted: a name and its share, such as dev 0.5.")
            if name in shares:
                raise forms.ValidationError(f"Found the split {name} twice; accepted: each once.")
            shares[name] = number
        return shares


class SelectForm(RefusableForm):
    """The choices of a selection: sent by GET for a preview and, unchanged, by POST to select."""

    campaigns = forms.ModelMultipleChoiceField(
        Campaign.objects.none(),
        label="Rated in",
        widget=forms.CheckboxSelectMultiple,
        help_text="Ratings of raters who are excluded in one of these campaigns do not count.",
    )
    threshold = forms.FloatField(
        label="Mean rating, at least",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Compared exactly. The ΔBLEU paper kept means of 4 or more on a scale of 5.",
    )
    shares = SharesField(
        label="Splits and their shares",
        max_length=400,
        initial="dev 0.5, test 0.5",
        help_text="Shares add up to 1. The selected seeds are put into the splits at random.",
    )
    seed = forms.IntegerField(
        label="Seed of the random numbers",
        min_value=0,
        max_value=LARGEST_SEED,
        initial=RANDOM_SEED,
        help_text="The same one puts the same items into the same splits.",
    )

    def __init__(self, dataset: Dataset, data: QueryDict | None = None) -> None:
        offered = list(seed_campaigns(dataset))
        super().__init__(self._filled(data, offered))
        self.dataset, self.offered = dataset, offered
        campaigns = Campaign.objects.filter(pk__in=[campaign.pk for campaign in offered])
        offer_rows(self, "campaigns", campaigns.order_by("pk"))
        for criterion in CRITERIA.values():
            self.fields[criterion.name] = forms.IntegerField(
                label=criterion.label,
                help_text=criterion.help_text,
                min_value=criterion.lowest,
                max_value=criterion.highest,
            )

    @classmethod
    def _filled(cls, data: QueryDict | None, offered: list[Campaign]) -> QueryDict:
        """Return the data that was sent, or usual choices if none was."""
        if data is not None and any(name in data for name in (*cls.base_fields, *CRITERIA)):
            return data
        filled = QueryDict(mutable=True)
        first = next((campaign for campaign in offered if not campaign.presentation_kind.compares_systems), None)
        filled.setlist("campaigns", [str(first.pk)] if first else [])
        criterion = campaign_criteria([first])[0] if first and _has_one_scale(first) else None
        if criterion is not None:
            low, high = criterion.scale_min, criterion.scale_max
            filled["threshold"] = f"{low + 0.75 * (high - low):g}"  # 4 of 1 to 5
        for name in ("shares", "seed"):
            filled[name] = str(cls.base_fields[name].initial)
        for name, seed_criterion in CRITERIA.items():
            filled[name] = str(seed_criterion.default)
        return filled

    @property
    def numbers(self) -> list[forms.BoundField]:
        return [self[name] for name in ("threshold", *CRITERIA, "shares", "seed")]

    def arguments(self) -> dict[str, Any]:
        values = {**self.cleaned_data, "campaigns": list(self.cleaned_data["campaigns"])}
        return {"rules": SelectionRules.of(**values, dataset=self.dataset)}


def _has_one_scale(campaign: Campaign) -> bool:
    scales = {(criterion.kind, criterion.scale_min, criterion.scale_max) for criterion in campaign.criteria.all()}
    return len(scales) == 1
