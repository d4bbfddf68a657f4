"""Modules whose examples need a package that may not be installed are left out where it is not."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("river") else ["rosenblatt/compat/river.py"]
