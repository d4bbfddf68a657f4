"""Soft and hard margins: objectives, their duals, and the solvers that close the gap between the two."""
