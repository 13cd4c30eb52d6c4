import os
import shutil

import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents
from vicinal.report import write_report

# What a page must show as text, wherever it comes from.
EVIL = "</script><script>window.evil=1</script><img src=x onerror=window.evil=1>"


@pytest.fixture(scope="session")
def iris():
    return load_iris()


@pytest.fixture(scope="session")
def iris_model(iris):
    pipeline = make_pipeline(StandardScaler(), NeighborhoodComponents(n_components=2))
    return pipeline.fit(iris.data, iris.target)


@pytest.fixture(scope="session")
def iris_page(iris, iris_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "iris.html"
    write_report(
        iris_model,
        iris.data,
        iris.target,
        path,
        class_names=[EVIL, "versi%{x}color", "virginica & <b>co</b>"],
        feature_names=[EVIL, "$x_1$", "{{ 7 * 7 }}", "petal width"],
        data_name=EVIL,
        title=EVIL,
        command=f"vicinal report {EVIL}",
    )
    return path


@pytest.fixture(scope="session")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no Chromium on this machine (set CHROMIUM, or install the system's)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
