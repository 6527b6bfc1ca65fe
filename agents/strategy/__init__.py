"""Heuristics of a game: tried, played against each other, selected, and fitted without a model."""
