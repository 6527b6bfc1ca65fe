"""Attacks on the sandbox: probes, forging tricks, a sweep over the system calls."""
