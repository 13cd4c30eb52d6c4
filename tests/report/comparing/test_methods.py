import pytest
from sklearn.base import is_classifier

from vicinal.report.comparing import methods
from vicinal.report.comparing.methods import METHODS, NAMES, Setting, methods_for


def setting(**changed):
    usual = {"n_components": 2, "n_train": 100, "n_features": 6, "n_classes": 5, "seed": 0}
    return Setting(**(usual | changed))


def labels(names=None, **changed):
    given = setting(**changed)
    return [method.called(given) for method in methods_for(given, names)]


def test_all_of_them():
    assert labels() == [
        "k-NN raw",
        "k-NN standardized",
        "k-NN after PCA",
        "k-NN after PCA (2-d)",
        "k-NN after LDA",
        "k-NN after LDA (2-d)",
        "LDA",
        "k-NN after scikit-learn's NCA",
        "k-NN after LatentCoincidence",
        "NeighborhoodComponents",
        "NeighborhoodComponents (2-d)",
    ]


def test_labels_are_unique_and_all_are_classifiers():
    assert len(set(labels())) == len(METHODS)
    assert all(is_classifier(method.build(setting())) for method in METHODS)


def test_forms_in_few_dimensions_only_where_they_differ():
    assert "k-NN after LDA (2-d)" not in labels(n_classes=3)
    assert not any("-d)" in label for label in labels(n_features=2))


def test_some_of_them():
    assert labels(["nca", "raw"]) == [
        "k-NN raw",
        "NeighborhoodComponents",
        "NeighborhoodComponents (2-d)",
    ]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["svm"], r"methods='svm' is unknown: use one of 'raw', .*'nca'"),
        ("raw", r"methods='raw' must be a list: use \['raw'\]"),
        ([], r"methods=\[\] is empty"),
    ],
)
def test_names_that_are_none(names, said):
    with pytest.raises(ValueError, match=said):
        methods_for(setting(), names)


def test_what_is_too_large_for_memory_is_left_out(monkeypatch):
    (peer,) = methods_for(setting(), ["sklearn-nca"])
    assert peer.obstacle(setting(n_train=1000)) == ""
    monkeypatch.setattr(methods, "_room", lambda: 1e9)
    assert peer.obstacle(setting(n_train=5000)) == ""
    assert peer.obstacle(setting(n_train=6000)) == (
        "it would hold about 5 arrays of 6,000 × 6,000 numbers, 1.4 GB, and 1.0 GB are allowed"
    )


def test_room_is_half_of_the_memory(monkeypatch):
    monkeypatch.setattr(methods.os, "sysconf", lambda name: {"SC_PHYS_PAGES": 1000}.get(name, 4096))
    assert methods._room() == 2_048_000
    monkeypatch.setattr(methods.os, "sysconf", lambda name: 2**40)
    assert methods._room() == 8e9

    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(methods.os, "sysconf", unknown)
    assert methods._room() == 8e9


def test_names_are_those_of_the_documentation():
    from vicinal.report import compare

    assert all(f'"{name}"' in compare.__doc__ for name in NAMES)
