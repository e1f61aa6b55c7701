"""The protocol as a pure model: every interleaving of a small world, by the real decisions."""
