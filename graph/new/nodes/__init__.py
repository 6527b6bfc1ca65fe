"""A file a node, or a pair of them: call a role or a tool, ask a pure function where to go."""
