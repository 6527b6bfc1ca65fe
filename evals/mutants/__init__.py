"""Faults planted in library games by a program, and which checks catch them."""
