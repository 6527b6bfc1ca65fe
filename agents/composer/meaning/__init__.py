"""Meaning: what a brief says, by embeddings: which game it is, and which settings."""
