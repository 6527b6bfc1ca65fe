"""Nodes of the machine of `vary`; none imports another."""
