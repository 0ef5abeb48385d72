from django.urls import reverse

from annotation.models import ReferenceSet, WeightsImport
from annotation.references.releases.services.imports import weights_import_execute
from annotation.references.sets.selectors import equal_weights_name, without_equal_weights
from tests.annotation.worlds.rated import make_dataset, make_item, make_response


def test_all_references_of_a_data_set_weigh_the_same_in_one_click(client, manager, project):
    dataset = make_dataset(project)
    item = make_item(dataset, "i1")
    make_response(item, "Fine.", "human")
    make_response(item, "Well.", "seed")
    make_response(item, "Beep.", "Robot")
    client.force_login(manager)
    page = client.get(reverse("correlations:study-create", args=[project.slug])).content.decode()
    address = f"{reverse('annotation:reference-set-equal', args=[project.slug])}?dataset={dataset.slug}"
    assert address in page
    assert without_equal_weights(project) == [dataset]

    client.post(address)
    weights_import_execute(import_id=WeightsImport.objects.get().pk)

    reference_set = ReferenceSet.objects.get(name=equal_weights_name(dataset))
    weights = reference_set.releases.get().weights.values_list("response__text", "weight", "is_original")
    assert sorted(weights) == [("Fine.", 1.0, False), ("Well.", 1.0, True)]
    assert without_equal_weights(project) == []
    assert client.post(address).url == reverse(
        "annotation:reference-set-detail", args=[project.slug, reference_set.slug]
    )
    assert WeightsImport.objects.count() == 1


def test_a_data_set_without_references_is_refused(client, manager, project):
    dataset = make_dataset(project)
    make_response(make_item(dataset, "i1"), "Beep.", "Robot")
    client.force_login(manager)

    answer = client.post(
        f"{reverse('annotation:reference-set-equal', args=[project.slug])}?dataset={dataset.slug}", follow=True
    )

    assert "has no references, only outputs of systems" in answer.content.decode()
    assert not WeightsImport.objects.exists()
