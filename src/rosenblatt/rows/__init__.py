"""What data is inside: rows, labels, weights and the batch they make."""
