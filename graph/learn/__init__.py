"""Rules and recorded matches to a model of the game: intake, synthesise, check, refine, report."""
