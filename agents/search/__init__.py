"""The numpy search: one algorithm a file, pure functions over a module's raw functions."""
