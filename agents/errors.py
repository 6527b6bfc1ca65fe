"""The base of everything that can go wrong on the way to a model."""


class ModelError(Exception):
    """A model could not be used; the message says why and what to do next."""
