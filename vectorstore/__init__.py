"""The vector store: Chroma, its embedders, and the index of the library."""
