"""What the agents act with: the sandbox, retrieval, play-testing and edits."""
