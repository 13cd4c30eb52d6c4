"""How the site is built: ``sphinx-build -W --keep-going -b html docs docs/_build/html``."""

import importlib.util
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from repository_pages import NAMED, link_to_page  # noqa: E402

from vicinal import __version__  # noqa: E402

project = "vicinal"
author = "The vicinal developers"
copyright = "2026, the vicinal developers"
version = release = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "repository_pages",
    "command_help",
    "mathml",
]
exclude_patterns = [
    "_build",
    "_ext",
    "_templates",
    "decisions/README.md",
    "**sg_execution_times.rst",
]
exclude_patterns += ["auto_examples/**/*.ipynb", "auto_examples/**/*.py", "auto_examples/**/*.md5"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]

# Pages in Markdown.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

# The reference. Where the extra gpu is not installed its modules are described all the same.
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # numpydoc's sections say more
autodoc_inherit_docstrings = False
toc_object_entries_show_parents = (
    "hide"  # beside a page of LocalComponents: fit(), not its full name
)
autodoc_mock_imports = [
    name for name in ("torch", "triton", "array_api_compat") if not importlib.util.find_spec(name)
]
numpydoc_show_class_members = False
default_role = "code"

# The gallery.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "subsection_order": [
        f"../examples/{part}"
        for part in ("metrics", "densities", "pairs", "manifolds", "scale", "practice")
    ]
    + ["*"],
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": "True",
    "abort_on_example_error": False,
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_",),  # not <Legend object at 0x...> of a last line
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1000,
    "image_srcset": ["2x"],
    "thumbnail_size": (500, 350),  # sharp where cards are wide, see vicinal.css
    "matplotlib_animations": False,
    "reference_url": {},
}

# Names of other projects become links where the network may be used to look them up.
if os.environ.get("VICINAL_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

# Addresses outside the site: `sphinx-build -b linkcheck docs docs/_build/linkcheck`.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_workers = 4
linkcheck_anchors = False
linkcheck_ignore = [r"https?://localhost", r"https?://127\.0\.0\.1"]

html_theme = "pydata_sphinx_theme"
html_title = "vicinal"
html_static_path = ["_static"]
html_css_files = ["vicinal.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "text": "vicinal",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    "back_to_top_button": False,
}
html_sidebars = {"index": [], "auto_examples/index": ["sidebar-nav-bs"]}

# A doctest is copied without its prompts and answers.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def skip_scikit_learns_own(app, what, name, obj, skip, options):
    """What every estimator has from scikit-learn is described there."""
    home = getattr(obj, "__module__", None) or ""
    routing = re.fullmatch(r"set_\w+_request", name) is not None
    return True if routing or home.startswith("sklearn.") else skip


PAGE = re.compile(r"`+docs/([\w/-]+)\.md`+")
PLAIN = re.compile(r"(?<=\w)_(?![\w`])|(?<!\\)\|")
AUTHOR = re.compile(r"^(\s*\.\. \[[^\]]+\] )(?=[A-Z]\. )")  # N. Le Roux is no item N of a list


def escape_plain_words(app, what, name, obj, options, lines):
    """Docstrings say |x| and n_features_in_, which mean something to Sphinx, and name pages."""
    for i, line in enumerate(lines):
        lines[i] = AUTHOR.sub(r"\1\\", line)
        if not line.lstrip().startswith((">>>", "...", "..")):
            parts = re.split(r"(`+[^`]*`+)", line)
            parts[1::2] = [PAGE.sub(r":doc:`/\1`", part) for part in parts[1::2]]
            parts[1::2] = [NAMED.sub(link_to_page, part) for part in parts[1::2]]
            parts[::2] = [PLAIN.sub(r"\\\g<0>", part) for part in parts[::2]]
            lines[i] = "".join(parts)


def setup(app):
    """Connect both."""
    app.connect("autodoc-process-docstring", escape_plain_words, priority=900)  # after numpydoc
    app.connect("autodoc-skip-member", skip_scikit_learns_own)
