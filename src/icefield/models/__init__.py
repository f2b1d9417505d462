"""Any fitted model as one thing to ask, whatever its library.

`model` reads and asks; `adapter` is what a library's folder in `icefield.libraries` reduces its models to;
`trial` finds a form of rows the model takes (`row_form`), `targets` the outputs a user means, and `sharing`
says which models several threads may ask at once.
"""
