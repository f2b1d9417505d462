"""Any fitted model behind one interface, whatever its library.

`model` reads and asks, by what a library's folder in `icefield.libraries` reduced it to (`adapter`); `trial` finds a form of
rows the model takes, `targets` the outputs a user means, `across_rows` whether a call must hold all rows, `fingerprint`
whether the model was fitted again, and `sharing` says which models several threads may ask at once.
"""
