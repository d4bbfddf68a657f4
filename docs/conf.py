import sys
from pathlib import Path
from shutil import copyfile

from rosenblatt import __version__ as release  # noqa: F401

sys.path.insert(0, str(Path(__file__).parent))
from dark_pictures import scrape

project = "rosenblatt"
author = "the rosenblatt developers"
copyright = "2026, the rosenblatt developers"
extensions = [
    "command_reference",
    "dark_pictures",
    "notebooks",
    "reference_pages",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
html_theme = "pydata_sphinx_theme"
html_title = "rosenblatt"
html_show_sourcelink = False
html_static_path = ["_static"]
templates_path = ["_templates"]
html_favicon = html_logo = "_static/mark.svg"
html_sidebars = {"do/lab": []}
html_css_files = ["rosenblatt.css"]
html_js_files = ["rosenblatt.js"]
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "rosenblatt"},
    "navbar_start": ["navbar-logo", "version"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "footer_start": ["copyright", "source"],
    "footer_end": [],
}
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r"^>>> |^\.\.\. |^\$ "
copybutton_prompt_is_regexp = True
copybutton_here_doc_delimiter = "END"
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"pictures\w*\.py$",
    "write_computation_times": False,
    "min_reported_time": 3600,
    "download_all_examples": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "compress_images": (),
    "image_scrapers": (scrape,),
    "default_thumb_file": str(Path(__file__).parent / "images" / "run.png"),
}
suppress_warnings = ["config.cache"]
autosummary_generate = False  # reference_pages.py writes the pages
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = True
numpydoc_class_members_toctree = False
numpydoc_show_inherited_class_members = {"rosenblatt.Perceptron": True}
numpydoc_validation_checks = set()


def setup(app):
    """Copy the lab page beside the pages that show it."""
    app.connect("build-finished", _copy_lab)
    app.connect("viewcode-find-source", _source_of)


def _source_of(app, module):
    """Leave out the source of the exercises: its page would have half a megabyte."""
    return (
        ("# The exercises are in src/rosenblatt/exercises.py.\n", {}) if module == "rosenblatt.exercises" else None
    )


def _copy_lab(app, error):
    if error is None and app.builder.format == "html":
        page = Path(__file__).parent.parent / "src" / "rosenblatt" / "lab" / "index.html"
        copyfile(page, Path(app.outdir) / "_static" / "lab.html")
