"""One file a node: call a role or a tool, ask a pure function where to go."""
