"""Tests of the documentation: its code blocks, its reference, and the site built from it."""
