"""Networks: layers trained by backpropagation, random layers with least squares, and the Mark I of 1960."""
