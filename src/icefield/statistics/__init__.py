"""From curves to answers: what a model's curves say, and how far the data supports it.

`importance`     how much each feature moves the predictions
`interactions`   Friedman's H and its relatives
`ale`            accumulated local effects (with `steps` and `similarity` for bins and levels)
`conditional`    observed and predicted means per bin
`regions`        readable rules within which curves agree (with `partition`)
`reading`        shape, direction and strength of a curve (with `shapes` and `statements`)
`support`        how much data stands behind a grid point (with `row_space` and `combinations`)
`summary`        all of it, ranked
`tables`         what these print as
"""
