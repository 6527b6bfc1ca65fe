"""Searches that decide for one seat: pure functions of rules, a view, settings, a generator."""
