"""Forms of seeds and of lists of responses. They gather and clean; the services decide."""

from typing import Any, ClassVar

from django import forms
from django.http import QueryDict

from annotation.core.forms import RefusableForm, offer_rows
from annotation.core.normalisation import DEFAULT_RULE, RULE_CHOICES
from annotation.models import (
    Campaign,
    Corpus,
    Dataset,
    JobState,
    Project,
)
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.seeds.fields import CorpusField
from annotation.seeds.hygiene_forms import HygieneForm
from annotation.seeds.selectors import seed_campaigns
from annotation.seeds.services.selections import LARGEST_SEED, MOST_SAMPLED

SEED = 20150726
PAPERS_CANDIDATES = 33_000


class SampleForm(HygieneForm):
    corpus = CorpusField(Corpus.objects.none(), empty_label=None)
    name = forms.CharField(label="Name of the new data set", max_length=120)
    n = forms.IntegerField(
        label="Triples",
        min_value=1,
        max_value=MOST_SAMPLED,
        help_text="Drawn at random, each at most once. The paper of ΔBLEU judged some 33,000.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        initial=SEED,
        help_text="The same seed draws the same triples from the same corpus.",
    )
    normalisation = forms.ChoiceField(
        label="Two texts of an item are one response if they are", choices=RULE_CHOICES, initial=DEFAULT_RULE
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
    def main(self) -> list[Any]:
        return [self[name] for name in self.fields if name not in self.hygiene_names]

    @property
    def hygiene(self) -> list[Any]:
        return [self[name] for name in self.hygiene_names]

    @property
    def hygiene_open(self) -> bool:
        return any(name in self.errors or self[name].value() for name in self.hygiene_names)

    def asked(self) -> dict[str, Any]:
        names = ("corpus", "name", "n", "seed", "normalisation")
        return {**{name: self.cleaned_data[name] for name in names}, "hygiene": self.steps()}

    def place(self, path: str) -> tuple[forms.Form, str | None]:
        return super().place(self.input_of_step(path))


class SharesField(forms.CharField):
    """Names of splits with their shares, as in “dev 0.5, test 0.5”."""

    def clean(self, value: Any) -> dict[str, float]:
        text = super().clean(value)
        found: dict[str, float] = {}
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
            if name in found:
                raise forms.ValidationError(f"Found the split {name} twice; accepted: each once.")
            found[name] = number
        return found


class SelectForm(RefusableForm):
    """Sent by GET for a preview and, unchanged, by POST to select."""

    campaigns = forms.ModelMultipleChoiceField(
        Campaign.objects.none(),
        label="Rated in",
        widget=forms.CheckboxSelectMultiple,
        help_text="Every rating that counts enters; raters who are excluded in one of them do not.",
    )
    threshold = forms.FloatField(
        label="Keep seeds with a mean of at least",
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Exact: a mean of 4 is kept at 4. The paper of ΔBLEU kept 4 and more on a scale of 5.",
    )
    min_ratings = forms.IntegerField(
        label="Ratings, at least",
        min_value=1,
        max_value=100,
        initial=1,
        help_text="A seed with fewer that count is not kept, whatever its mean.",
    )
    shares = SharesField(
        label="Splits and their shares",
        max_length=400,
        initial="dev 0.5, test 0.5",
        help_text="They add up to 1. The seeds that are kept are binned at random.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        initial=SEED,
        help_text="The binning follows from it and from the items' ids alone.",
    )

    def __init__(self, dataset: Dataset, data: QueryDict | None = None) -> None:
        offered = list(seed_campaigns(dataset))
        super().__init__(self._filled(data, offered))
        self.offered = offered
        offer_rows(
            self,
            "campaigns",
            Campaign.objects.filter(pk__in=[campaign.pk for campaign in offered]).order_by("pk"),
        )

    @classmethod
    def _filled(cls, data: QueryDict | None, offered: list[Campaign]) -> QueryDict:
        """What was sent; or, where nothing was, what most people will want."""
        if data is not None and any(name in data for name in cls.base_fields):
            return data
        filled = QueryDict(mutable=True)
        first = next((one for one in offered if not one.presentation_kind.compares_systems), None)
        filled.setlist("campaigns", [str(first.pk)] if first else [])
        criterion = campaign_criteria([first])[0] if first and _averaged(first) else None
        if criterion is not None:
            low, high = criterion.scale_min, criterion.scale_max
            filled["threshold"] = f"{low + 0.75 * (high - low):g}"  # 4 of 1 to 5
        for name in ("min_ratings", "shares", "seed"):
            filled[name] = str(cls.base_fields[name].initial)
        return filled

    @property
    def main(self) -> list[Any]:
        return [self[name] for name in ("campaigns", "threshold", "min_ratings")]

    def asked(self) -> dict[str, Any]:
        return {**self.cleaned_data, "campaigns": list(self.cleaned_data["campaigns"])}


def _averaged(campaign: Campaign) -> bool:
    return len({(one.kind, one.scale_min, one.scale_max) for one in campaign.criteria.all()}) == 1
