"""Sentences whose words get labels: the structured perceptron, from files of sentences to proofs about them."""
