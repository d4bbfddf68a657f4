"""Weights of words, text by text with plain numbers: what every way of reading must equal, to the bit."""

from math import log, sqrt


def weigh(texts, trained_on):
    """Return the weights of texts, each a dict from words to counts; idf is that of the texts `trained_on`."""
    n = len(trained_on)
    weighted = []
    for text in texts:
        values = {}
        for word in sorted(text):
            having = sum(word in other for other in trained_on)
            idf = log((1 + n) / (1 + having)) + 1.0 if n else 1.0
            values[word] = (1.0 + log(text[word])) * idf
        square = 0.0
        for value in values.values():
            square += value * value
        weighted.append({word: value / sqrt(square) for word, value in values.items()})
    return weighted
