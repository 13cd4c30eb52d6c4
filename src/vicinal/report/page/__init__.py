"""The report: one HTML file about a fitted model, to be opened, printed or sent.

    rows and model → subject, with its stages (raw, prepared, learned)
                   → composing: accuracy, notes, interactive, learning, snippet → parts
                   → rendering: parts and templates → HTML

Nothing outside `rendering` writes HTML of user's text, and there all of it is escaped.
"""

import os
from collections.abc import Sequence

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from vicinal.files import check_target, whole_file
from vicinal.report.page.parts import Section
from vicinal.report.page.rendering import render, require_page_libraries

__all__ = ["write_report"]


def write_report(
    model: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike | None,
    path: str | os.PathLike[str],
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    cv: int | str | None = "auto",
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    title: str | None = None,
    data_name: str | None = None,
    command: str | None = None,
    extras: Sequence[Section] = (),
) -> None:
    """Write an HTML report about a fitted model that opens in any browser.

    The report shows what was fitted, how well nearest neighbors predict classes before and after,
    the rows as the model maps them (with hover, classes to show and hide, and the neighbors of a
    selected row), which features matter, how the fit went, and how to reproduce it. It is a single
    file that loads nothing from the network.

    Parameters
    ----------
    model : fitted transformer or pipeline
        NeighborhoodComponents, LocalComponents, LatentCoincidence, DivergenceEmbedding, or any
        other transformer to coordinates; also as the last step of a pipeline.
    X : array-like of shape (n_samples, n_features)
        Rows to show; with more than 100 000 rows, a sample.
    y : array-like of shape (n_samples,) or None
        Class labels.
    path : path-like
        File to write; an existing file is replaced.
    X_test, y_test : array-like, optional
        Test set, to evaluate the model on.
    cv : int, "auto" or None, default="auto"
        Number of cross-validation folds to evaluate a supervised model on, if there is no test set;
        the model is fitted anew for each fold. "auto": 5 if the fit took at most 5 s and there are
        at most 20 000 rows. None: by leave-one-out neighbors among the rows of `X`, which is
        optimistic.
    feature_names : sequence of str, optional
        Names of the features. None: the column names of `X`, or of the fit.
    class_names : sequence of str, optional
        Names of the classes, in sorted order of the labels. None: the labels themselves.
    title : str, optional
        Title of the report.
    data_name : str, optional
        What the rows are.
    command : str, optional
        Command line that reproduces the work, shown next to the Python code.
    extras : sequence of vicinal.report.page.parts.Section, default=()
        Additional sections, shown first.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import NeighborhoodComponents
    >>> from vicinal.report import write_report
    >>> iris = load_iris()
    >>> model = NeighborhoodComponents(n_components=2).fit(iris.data, iris.target)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "iris.html")
    ...     write_report(model, iris.data, iris.target, path, class_names=iris.target_names)
    ...     path.read_text().startswith("<!doctype html>")
    True
    """
    require_page_libraries("write_report")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test go together: give both, or none.")
    check_target(path, "the report")
    from vicinal.report.page.composing import compose
    from vicinal.report.page.subject import Subject

    subject = Subject.of(model, X, y, feature_names, class_names)
    report = compose(
        subject,
        test=None if X_test is None or y_test is None else (X_test, y_test),
        cv=cv,
        title=title,
        data_name=data_name,
        command=command,
        extras=extras,
    )
    page = render(report)
    with whole_file(path) as stream:
        stream.write(page.encode())
