"""The experiment: pairing, randomisation, looks, budget."""
