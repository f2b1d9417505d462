"""The numba kernels: every hot loop of the trees engine, and nothing else imports numba.

All kernels are serial and release the GIL; threads come from the callers, over blocks of rows.
They have explicit signatures and are compiled (or loaded from numba's cache) when their module
is imported, so these modules are imported on first use only. None checks bounds: `validate`
and the layouts built in `icefield.engines.trees` guarantee them.

`compiling`  the decorator and the bit intrinsics
`packing`    rows -> codes -> one bit per row and condition
`planning`   trees -> a linear program of mask operations
`lists`      walks a subtree that few rows of a block reach
`counting`   runs a program over a block and counts rows
`curves`     runs a program over a block and builds every row's curve
`moves`      runs a program over a block whose rows stand at points of their own
`others`     runs a program over a block and averages each row over one group at a time
`regions`    which grid points reach a leaf
`updates`    leaf counts -> averages of one question
`families`   leaf counts -> averages of many questions
"""
