"""What is true by definition: pure facts and decisions, without files, clocks or randomness."""
