"""Faces: the command `rulewright`."""
