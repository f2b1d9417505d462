"""One folder per library: everything icefield knows about how it predicts, stores trees and saves models.

Each folder has the same roles: `predictions` (how a model is asked, as an `Adapter`), `trees` (its
trees as a `TreeModel`), `files` (which files are its, whether they are sound, and what columns they
want), `row_by_row` (which models predict each row by itself) and `format` (the one parser of what the library writes).
`registry` lists the folders and finds those of other packages, and the rest of icefield goes through it. Only scikit-learn's folder is also used directly, since models of every library
stand in its pipelines and searches. A library itself is imported only once the user's own model or file
brings it.
"""
