from rosenblatt import __version__ as release  # noqa: F401

project = "rosenblatt"
author = "the rosenblatt developers"
copyright = "2026, the rosenblatt developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "rosenblatt"
html_show_sourcelink = False
html_sidebars = {"**": []}
myst_enable_extensions = ["colon_fence"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = True
numpydoc_class_members_toctree = False
numpydoc_show_inherited_class_members = {"rosenblatt.Perceptron": True}
numpydoc_validation_checks = set()
