"""Battleship tournaments of Lechat (2026), redone; README.md says what was found."""
