"""Rules and recorded matches to a model of the game: intake, synthesise, test, refine, report."""
