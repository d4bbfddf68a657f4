"""The record of a run: every mistake in order, and all that follows from it."""
