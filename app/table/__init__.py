"""The table where people play: what they see, what they type, and the match they play."""
