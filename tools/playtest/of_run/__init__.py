"""The play-test of a run: its clock, its series, and what they measure."""
