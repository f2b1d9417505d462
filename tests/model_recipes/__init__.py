"""Recipes of small fitted models; `fitted_models` puts them together."""
