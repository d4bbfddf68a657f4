"""Explanations of rows, and self-contained pages about a model and its data."""
