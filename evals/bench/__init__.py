"""Benchmarks: programs that print figures, never timed tests."""
