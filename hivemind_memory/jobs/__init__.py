"""Has the language model work on memories, in the leader. Asks nothing by itself."""
