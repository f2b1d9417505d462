"""How the documentation site is built: `make docs`. The parts written for it stand in `_site`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))

# Two processes build pages on two cores: a fit's own threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib  # noqa: E402

matplotlib.use("agg")

import pictures  # noqa: E402
from sphinx_gallery.sorting import FileNameSortKey  # noqa: E402

import icefield  # noqa: E402

VERSION_FOLDER = "dev" if "dev" in icefield.__version__ else icefield.__version__
project = "icefield"
author = "The icefield developers"
copyright = author
release = icefield.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "decision",
    "docstrings",
    "formulas",
    "links",
    "measured",
    "pictures",
    "pages",
    "reference",
    "running",
]
exclude_patterns = ["_site", "gallery", "**/README.rst", "generated/**/*.ipynb"]
default_role = "py:obj"
smartquotes = False  # two hyphens are an option, not a dash
toc_object_entries = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": FileNameSortKey,
    "image_scrapers": (pictures.matplotlib_scraper, pictures.plotly_scraper),
    "reset_modules": (pictures.reset,),
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|plotly",
    "backreferences_dir": "generated/used",
    "doc_module": ("icefield",),
    "inspect_global_variables": True,
    "remove_config_comments": True,
    "thumbnail_size": (480, 320),
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": False,
    "nested_sections": False,
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "icefield"
html_static_path = ["_site/static"]
templates_path = ["_site/templates"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_context = {"version_folder": VERSION_FOLDER, "default_mode": "auto"}
html_favicon = "_site/static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # it would fetch the pages, which browsers refuse for files
html_theme_options = {
    "logo": {"text": "icefield", "image_light": "_static/mark.svg", "image_dark": "_static/mark_dark.svg",
             "alt_text": "icefield, to the start page"},
    "navbar_align": "left",
    "navbar_end": ["versions", "theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_toc_level": 2,
    "navigation_with_keys": False,
}  # fmt: skip
html_sidebars = {"index": [], "start": [], "which-plot": []}
suppress_warnings = ["config.cache"]
