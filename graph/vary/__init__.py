"""The machine of `vary`: a game's settings become other games that play differently."""
