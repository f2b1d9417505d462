"""One file per kind of model: each turns a fitted object into an `Adapter`.

An adapter hides how a library is asked for numbers on a scale, what its outputs are called and
which columns it wants. `icefield.models.model` picks the adapter and does everything they share:
finding a form of rows the model accepts, checking answers and choosing outputs.
"""
