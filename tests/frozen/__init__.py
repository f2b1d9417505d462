"""Frozen answers: a broad set of results, written by one state of the library and compared bit for bit by another.

`python -m tests.frozen write FILE` asks everything of the icefield that is importable; `python -m tests.frozen compare FILE`
asks again and prints every difference. `--only PREFIX` limits either to questions whose names begin so.

Questions go through the public surface only; what must look inside is in `inside.py` alone. Everything is seeded, models
are fitted in one thread, and nothing depends on the clock.
"""
