"""Beliefs of a seat about the hidden state: samplers of the states that fit what it saw."""
