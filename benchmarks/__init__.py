"""Timings, as ratios against other libraries in the same run."""
