"""Exact arithmetic: floats are dyadic rationals, and what is decided of them is decided without rounding."""
