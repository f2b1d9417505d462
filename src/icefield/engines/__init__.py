"""Engines: each in a folder of its own, with one line in the registry of `icefield.core.engine`."""
