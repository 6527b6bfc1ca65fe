"""Scripted evaluations: samples, a procedure, and a pure scorer that fails below its thresholds."""
