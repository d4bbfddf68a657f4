"""Fit loops: from a batch, a rule, an order and a set of stops to a model, a trace and a reason."""
