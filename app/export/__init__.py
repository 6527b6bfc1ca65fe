"""Files of a game for other places: a printer, a virtual table, other tools."""
