"""Thin scikit-learn shells: parameters in, attributes out, no algorithm inside."""
