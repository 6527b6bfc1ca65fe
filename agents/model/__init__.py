"""The client of a chat model: one conversation partner, bounded, budgeted and recorded."""
