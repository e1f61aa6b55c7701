"""Read both stores and write down what can be re-checked; never change them."""
