import hashlib

import numpy as np
import pytest

from vicinal.datasets.digests import (
    REFERENCE,
    class_digests,
    class_tags,
    content_digest,
    order_digest,
)
from vicinal.datasets.registry import REGISTRY

SPECS = pytest.mark.parametrize("spec", REGISTRY.values(), ids=REGISTRY)


def test_the_23_sets_are_registered_with_digests():
    assert len(REGISTRY) == 23
    assert list(REFERENCE) == list(REGISTRY)


@SPECS
def test_entries_are_consistent(spec):
    assert len(spec.class_names) == len(set(spec.class_names)) == len(spec.class_counts)
    assert spec.n_train is None or 0 < spec.n_train < spec.n_samples
    np.dtype(spec.dtype)


@SPECS
def test_every_set_has_one_way_to_be_had_or_a_reason(spec):
    ways = [spec.embedded is not None, spec.openml_id is not None, bool(spec.no_openml)]
    assert sum(ways) == 1


@SPECS
def test_class_tags_tell_the_classes_apart(spec):
    tags = REFERENCE[spec.name].class_tags
    assert len(set(tags)) == len(tags) == len(spec.class_names)


def test_class_digest_is_sha256_of_the_sorted_float32_rows():
    X = np.array([[2.0, -0.0], [1.0, 3.0], [5.0, 5.0]])
    rows = sorted(np.array(row, dtype="<f4").tobytes() for row in ([2, 0], [1, 3]))
    expected = hashlib.sha256(b"".join(rows)).hexdigest()
    assert class_digests(X, np.array([0, 0, 1]))[0] == expected


def test_content_ignores_row_order_and_class_order(tiny):
    order = np.random.RandomState(1).permutation(12)
    swapped = np.array([2, 0, 1])[tiny.y]
    expected = content_digest(class_digests(tiny.X, tiny.y))
    assert content_digest(class_digests(tiny.X[order], swapped[order])) == expected


def test_content_sees_a_changed_value_and_a_changed_label(tiny):
    expected = content_digest(class_digests(tiny.X, tiny.y))
    X, y = tiny.X.copy(), tiny.y.copy()
    X[4, 2] += 0.001
    y[[0, 1]] = y[[1, 0]]  # same rows, same class sizes, other partition
    assert content_digest(class_digests(X, tiny.y)) != expected
    assert content_digest(class_digests(tiny.X, y)) != expected


def test_order_digest_sees_order_and_labels_across_chunks(monkeypatch, tiny):
    expected = order_digest(tiny.X, tiny.y)
    assert order_digest(tiny.X[::-1], tiny.y[::-1]) != expected
    assert order_digest(tiny.X, tiny.y[::-1]) != expected
    monkeypatch.setattr("vicinal.datasets.digests._ROWS_PER_CHUNK", 5)
    assert order_digest(tiny.X, tiny.y) == expected


@SPECS
def test_reference_files_have_the_reference_digests(spec, reference_folder):
    with np.load(reference_folder / f"{spec.name}.npz", allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"]
    reference, classes = REFERENCE[spec.name], class_digests(X, y)
    assert content_digest(classes) == reference.content
    assert class_tags(classes) == reference.class_tags
    assert order_digest(X, y) == reference.order
