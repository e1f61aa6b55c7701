"""The demo, and subjects whose verdict is known: what shows the proof, and what it is worth."""
