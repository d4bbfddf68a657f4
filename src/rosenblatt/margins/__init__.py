"""Batch solvers for soft and maximum margins; each reports a proved gap between its value and the optimum."""
