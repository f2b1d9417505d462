"""From curves to answers: what a model's curves say, and how far the data supports it.

`importance`     how much each feature moves the predictions
`interactions`   Friedman's H and its relatives
`ale`            accumulated local effects (with `steps` and `similarity` for bins and levels)
`conditional`    observed and predicted means per bin
`regions`        readable rules within which curves agree (with `partition`)
`reading`        shape, direction and strength of a curve (with `shapes` and `wording`)
`support`        how much data stands behind a grid point (with `coordinates`)
`summary`        all of it, ranked
`tables`         what these print as

`inquiry` is the only module here that looks inside an Explainer.
"""
