"""A fuzzer of everything that is read from files: ``python -m tests.fuzz FORMAT N [--seed S] [--store]``.

A damaged file may be refused, or give what both engines agree about. It may not crash, hang for `SECONDS`, claim more
than `CLAIM` bytes, end in an error that is none of icefield's, or give two different answers. `results.json` holds what was run.
"""
