"""Shapes of the answer that says how many raters a study needed."""

from typing import Any

from rest_framework import serializers

from correlations.results.sensitivity import COMBINED
from correlations.selectors.held import DRAWS_NOTE
from correlations.stats.coefficients.registry import COEFFICIENTS

DRAWN = f"By what was drawn anew: {', '.join(COMBINED)}."


def ends(help_text: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(), allow_null=True, help_text=help_text)


class DrawsSerializer(serializers.Serializer[Any]):
    ends = ends(f"The middle 95% of the draws; over items alone a 95% interval. Over raters: {DRAWS_NOTE}")
    spread = serializers.FloatField(allow_null=True, help_text="Standard deviation of the draws.")
    reason = serializers.CharField(help_text="Why it is undefined, or empty.")


class RowSourcesSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(help_text="Of the study's table, from 0.")
    value = serializers.FloatField(allow_null=True)
    sources = serializers.DictField(child=DrawsSerializer(), help_text=DRAWN)


class PairSourcesSerializer(serializers.Serializer[Any]):
    first = serializers.IntegerField(help_text="The row that is ahead.")
    second = serializers.IntegerField()
    difference = serializers.FloatField(help_text="Over the items that both can use.")
    ahead = serializers.DictField(child=serializers.FloatField(), help_text=f"Share of draws. {DRAWN}")
    sources = serializers.DictField(child=DrawsSerializer(), help_text=f"Of the difference. {DRAWN}")


class CurveValueSerializer(serializers.Serializer[Any]):
    mean = serializers.FloatField(allow_null=True)
    spread = serializers.FloatField(allow_null=True)
    ends = ends("The middle 95% of the draws.")
    items = serializers.FloatField(help_text="That the row can use, on average over draws.")


class CurvePointSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField(help_text="How many a draw keeps.")
    reached = serializers.FloatField(help_text="Share of outputs, references or items that have as many.")
    rows = CurveValueSerializer(many=True, help_text="In the order of `shown`.")
    ahead = serializers.ListField(
        child=serializers.FloatField(), help_text="For each pair, the share of draws in which the first is ahead."
    )


class CurveSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(help_text="Why there is no curve, or empty.")
    points = CurvePointSerializer(many=True)


class SchemeValueSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    interval = ends("95%, over items.")
    difference = serializers.FloatField(allow_null=True, help_text="From the release's own weights.")
    difference_interval = ends("95%, over items.")
    items = serializers.IntegerField()
    reason = serializers.CharField()


class SchemeLineSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # a field of the answer, not the serializer's own label
    is_own = serializers.BooleanField(help_text="The release's own weights.")
    reason = serializers.CharField(help_text="Why there are no such weights, or empty.")
    rows = SchemeValueSerializer(many=True)


class SchemesSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()
    rows = serializers.ListField(child=serializers.IntegerField(), help_text="Rows that read weights.")
    lines = SchemeLineSerializer(many=True)


class SensitivitySerializer(serializers.Serializer[Any]):
    """From how many ratings on one row stays ahead of another, and what other items, raters or weights would change."""

    coefficient = serializers.CharField(help_text=f"The leading one of the study: {', '.join(COEFFICIENTS)}.")
    reason = serializers.CharField(help_text="Why nothing was drawn, or empty.")
    shown = serializers.ListField(child=serializers.IntegerField(), help_text="Rows of the table, the best first.")
    replicates = serializers.IntegerField(help_text="Draws of items and raters.")
    draws = serializers.IntegerField(help_text="Draws at each point of a curve.")
    missing = serializers.DictField(child=serializers.CharField(), help_text="What could not be drawn, and why.")
    rows = RowSourcesSerializer(many=True)
    pairs = PairSourcesSerializer(many=True)
    curves = serializers.DictField(child=CurveSerializer(), help_text="outputs, references and number (of references).")
    schemes = SchemesSerializer()
    seconds = serializers.FloatField()
