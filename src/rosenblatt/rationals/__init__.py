"""Exact arithmetic on floats, which are integers times powers of two."""
