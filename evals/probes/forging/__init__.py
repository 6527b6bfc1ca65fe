"""Modules that are always wrong and try to pass: one file a trick, its first line the property.

Each is appended to a game's source, whose `apply_action` it replaces. They run in workers only.
"""
