"""Brute force: the model is asked at every row and grid point."""
