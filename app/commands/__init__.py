"""One file a command; imported only when the command runs, so that `--help` answers at once."""
