"""Faults of the store; every message may be shown to the person."""


class StoreError(Exception):
    """The store could not do what was asked; the message says what was wrong and what to do."""


class StoreLockedError(StoreError):
    """Another process is writing the embedded store."""


class NotIndexedError(StoreError):
    """A library collection was searched before anything was put into it."""


class EmbedderError(StoreError):
    """Texts could not be turned into vectors."""
