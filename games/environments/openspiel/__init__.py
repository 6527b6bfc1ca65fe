"""OpenSpiel games as environments: their states as JSON, one function a game."""
