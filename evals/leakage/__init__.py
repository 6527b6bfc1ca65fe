"""Leakage: players and twins that may not differ, and what seeing all would be worth."""
