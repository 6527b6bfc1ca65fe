"""Commands on learned models: what they learn from."""
