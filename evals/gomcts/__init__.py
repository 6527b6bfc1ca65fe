"""Evaluations of players by a model of what their seat sees (GO-MCTS)."""
