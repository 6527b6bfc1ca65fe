"""Play-testing: one runner of matches, its journal, tournaments and series, and what they tell."""
