"""The base of everything that can go wrong on the way to a model."""


class ModelError(Exception):
    """A model could not be used; the message says why and what to do next."""


class BadBodyError(ValueError):
    """The endpoint answered with status 200 and a body that is no chat completion."""
