"""The part of a player that runs beside a game's module, in its sandboxed worker."""
