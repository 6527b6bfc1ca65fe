"""Environments: games that a match can be played in, recorded and learned from."""
