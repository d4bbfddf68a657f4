"""What the theorems say about a run: bounds on its mistakes, and the quantities of their proofs."""
