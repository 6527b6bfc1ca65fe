"""Encoders: what a seat's log says at a decision, in a form that numbers are fitted to."""
