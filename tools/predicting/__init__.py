"""Tests made from recorded matches: what a learned source must predict, one file a kind of test."""
