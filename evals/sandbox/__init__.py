"""Evaluations of the sandbox: attacks, forged results, a sweep over system calls, costs, a soak."""
