"""Confinement of a worker: what it gives up before it reads a line of the module's source."""
