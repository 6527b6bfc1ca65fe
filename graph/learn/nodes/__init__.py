"""Nodes of the machine of `learn`; none imports another."""
