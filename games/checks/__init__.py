"""Named predicates over a module, each with evidence."""
