"""What the theorems say of a run, computed: bounds on mistakes, and the quantities of their proofs."""
