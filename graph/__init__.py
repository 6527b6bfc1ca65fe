"""The machine: a LangGraph state machine from a chat prompt to a reported game."""
