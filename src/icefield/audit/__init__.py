"""Audits and contracts: what a model does along its features, with a proof or a counter-example.

`row_steps` decides it on given rows at every threshold, `domain` for every possible input, `structure` says which features
cannot interact, `flips` what changing one column alone does; `auditing` puts them together into an `Audit` (`result`). `expectations`
are what a model is held to, `checking` holds it to them; `snapshot` writes its effects down, so that the next
model's can be compared with them.
"""
