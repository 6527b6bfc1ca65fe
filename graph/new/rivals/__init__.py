"""Rivals: independent candidates of one design, drafted side by side and played on each other."""
