"""Deciders: the roles, with and without a language model, the players and their search."""
