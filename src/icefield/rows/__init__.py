"""Where rows are: in memory, in files and lazy frames that are streamed, or on a distributed engine.

Each is a kind of `icefield.core.rows.Rows`; `open_rows` recognises what a user passes as X.
"""
