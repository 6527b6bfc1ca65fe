"""Variation: a game's play as numbers, how far two games are apart, and settings to try."""
