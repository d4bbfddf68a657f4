"""Exact arithmetic: floats search, rationals decide."""
