"""Scorers: each turns a Measure into scores, or into the reason why there is none."""
