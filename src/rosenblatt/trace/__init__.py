"""The record of a run: every mistake in order, and all that can be computed from them."""
