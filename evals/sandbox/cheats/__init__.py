"""Cheats: modules that carry what is hidden past the referee, and what they gain by it.

`leakage.py` appends a channel (`key_order.py`, `numbers.py`, `action_order.py`) to `spy.py`, and
plays `coin.py`. These run in workers, never here.
"""
