"""Attacks by somebody who had not seen the code: data, and the judge of each."""
