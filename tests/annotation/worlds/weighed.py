"""A small release with an entry in every list; its numbers are worked out by hand."""

from annotation.models import Campaign, Release
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.snapshots import recalled


def rate_all(campaign, response, **values):
    for rater, value in values.items():
        rate(campaign, rater, response, value)


def make_release(project, *, method="linear", **options) -> Release:
    """Three items whose references ann, bob and cem rated on 1 to 5; every slot is filled.

    i1: "Fine." 5, 5, 2 (mean 4: +0.5) and "Well." 4, 4, 4 (+0.5) tie. i2: "No." 1, 1, 1 (-1) and "Hm." 2, 4, 2 (mean
    8/3: -1/6), no positive weight. i3: "Ada said it." 5, 1 (0), not by cem; the system Ada said it, too. The system Bo
    shouts on every item.
    """
    if options:
        return _make_release(project, method=method, **options)
    return recalled(("weighed", method), project, lambda: _make_release(project, method=method))


def _make_release(project, **options) -> Release:
    dataset = make_dataset(project)
    campaign = make_campaign(dataset, ratings_per_unit=1)
    texts = {
        "i1": {"Fine.": {"ann": 5, "bob": 5, "cem": 2}, "Well.": {"ann": 4, "bob": 4, "cem": 4}},
        "i2": {"No.": {"ann": 1, "bob": 1, "cem": 1}, "Hm.": {"ann": 2, "bob": 4, "cem": 2}},
        "i3": {"Ada said it.": {"ann": 5, "bob": 1}},
    }
    for name, replies in texts.items():
        item = make_item(dataset, name)
        for text, values in replies.items():
            response = make_response(item, text, "mined")
            if text.startswith("Ada"):
                make_response(item, text, "Ada")
            rate_all(campaign, response, **values)
        make_response(item, f"{next(iter(replies))[:-1].upper()}!", "Bo")
    return build(project, dataset, [campaign], **options)


def build(project, dataset, campaigns: list[Campaign], **options) -> Release:
    chosen = reference_set_create(dataset=dataset, name="References", campaigns=campaigns, source_kinds=["mined"])
    release = release_create(reference_set=chosen, **options)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert release.state == "done", release.error
    return release


def texts_of(release: Release, ids) -> list[str]:
    names = dict(release.weights.values_list("response_id", "response__text"))
    return [names[int(pk)] for pk in ids]
