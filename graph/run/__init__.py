"""Shared parts of the machines: the run folder, checkpoints, traces, context, candidate pool."""
