"""The core: rows, questions, engines and the recipe that makes Effects of them.

`rows` says what rows are to everyone else, `question` what an engine is asked and answers, `engine` which engine answers
and why, `study` holds a model with its rows and the choices of the caller, and `effects` is the recipe: features, grids,
questions, answers, Effects.
"""
