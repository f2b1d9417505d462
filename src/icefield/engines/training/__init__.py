"""The training background: averages weighted by what the trees saw in training."""
