"""Evaluations that repeat Cardiverse (2025): code generation, and players."""
