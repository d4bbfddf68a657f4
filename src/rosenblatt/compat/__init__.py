"""Learners of this package in the pipelines of other packages: `rosenblatt.compat.river`."""
