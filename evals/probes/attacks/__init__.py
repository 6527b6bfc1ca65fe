"""Modules that attack the sandbox they run in: one file a probe, its first line the property.

Each stands alone, so that it can be given to any sandbox as it is. `main` answers what it saw; the
host may put what an attacker is assumed to know into `BAIT`. They are run in workers, never here.
"""
