"""Data in any form, read into one: the only package that touches frames."""
