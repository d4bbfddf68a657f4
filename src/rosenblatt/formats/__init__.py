"""Data files: one module a format, and what opens them."""
