"""Separable or not, with a proof that anyone can check."""
