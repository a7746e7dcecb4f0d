"""Settings of Sphinx."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import beamlearn

project = "beamlearn"
author = "The beamlearn authors"
project_copyright = "The beamlearn authors; Apache-2.0"
release = beamlearn.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "website.extension",
]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns: list[str] = []
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"  # outputs are committed; the tests run the cells and compare
highlight_language = "none"
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
html_theme = "furo"
html_title = "beamlearn"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072b2", "color-brand-content": "#0068a3"},
    "dark_css_variables": {"color-brand-primary": "#6cbaf0", "color-brand-content": "#6cbaf0"},
    "top_of_page_buttons": [],
}
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
