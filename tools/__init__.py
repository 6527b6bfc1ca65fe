"""Tools of the agents: the sandbox, retrieval, play-testing and edits."""
