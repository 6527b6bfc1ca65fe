"""The page: a table in the browser."""
