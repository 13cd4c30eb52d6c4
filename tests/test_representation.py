from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.facts import facts_in_words

X, Y = load_iris(return_X_y=True)
HOSTILE = "<script>alert('x & y')</script>"
FRAME = pd.DataFrame(X, columns=[HOSTILE, "b", "c", "d"])
LABELS = np.array([HOSTILE[:18], "<b>b</b>", "c"])[Y]
MODELS = [
    NeighborhoodComponents(2),
    LocalComponents(gaussian="search"),
    LatentCoincidence(random_state=0),
    CoincidenceClassifier(),
    DivergenceNeighbors(),
    DivergenceEmbedding(method="mds", gamma=0.1, random_state=0),
]


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    return clone(request.param).fit(FRAME, LABELS)


class Tables(HTMLParser):
    """Texts of the cells of our table, and the scripts and links of the page."""

    def __init__(self, html):
        super().__init__()
        self.within, self.cells, self.open, self.scripts, self.links = False, [], False, [], []
        self.in_script = False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "table":
            self.within = attributes.get("class") == "vicinal-facts"
        if tag in ("th", "td") and self.within:
            self.cells.append("")
            self.open = True
        self.in_script = tag == "script"
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])

    def handle_endtag(self, tag):
        self.within &= tag != "table"
        self.open &= tag not in ("th", "td")

    def handle_data(self, data):
        if self.open:
            self.cells[-1] += data
        if self.in_script:
            self.scripts.append(data)


def facts_in(html):
    cells = Tables(html).cells
    return list(zip(cells[::2], cells[1::2], strict=True))


def test_the_facts_stand_below_the_diagram(model):
    facts = list(facts_in_words(model).items())
    assert facts
    assert facts_in(model._repr_html_()) == facts
    bundle = model._repr_mimebundle_()
    assert facts_in(bundle["text/html"]) == facts
    assert bundle["text/plain"] == repr(model)
    assert 'class="sk-top-container' in bundle["text/html"]


def test_nothing_is_added_before_a_fit(model):
    blank = clone(model)
    assert facts_in_words(blank) == {}
    assert "vicinal-facts" not in blank._repr_html_() + blank._repr_mimebundle_()["text/html"]


def test_names_are_shown_as_text(model):
    found = Tables(model._repr_html_())
    assert not any("alert(" in script for script in found.scripts)
    assert "<b>b</b>" not in model._repr_html_()
    if hasattr(model, "classes_"):
        assert ("Classes", f"3: <b>b</b>, {HOSTILE[:18]}, c") in facts_in(model._repr_html_())


def test_no_link_leads_to_pages_of_scikit_learn(model):
    assert model._get_doc_link() == ""
    assert not any("scikit-learn.org" in link for link in Tables(model._repr_html_()).links)


def test_displays_of_text_have_no_html(model):
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_diagrams_of_others_stay_as_they_are(model):
    pipeline = make_pipeline(StandardScaler(), model)
    html = pipeline._repr_html_() + pipeline._repr_mimebundle_()["text/html"]
    assert "vicinal-facts" not in html
    assert type(model).__name__ in html
    search = GridSearchCV(model, {"n_components": [1]})
    assert type(model).__name__ in search._repr_html_()
