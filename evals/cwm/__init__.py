"""Players of learned models: the arena, and which models and value functions are used."""
