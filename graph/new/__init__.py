"""The machine from a chat prompt to a reported game."""
