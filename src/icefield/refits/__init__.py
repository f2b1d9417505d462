"""A learner's refits on random halves of the rows, and answers that carry its intervals.

`halves` draws the halves, `fitting` fits them, `refits` asks them and puts intervals around what the full-data model
answers, `hypotheses` tests what people ask: is it flat, is it the same in both groups, is there no interaction.
"""

from icefield.refits.hypotheses import Tests
from icefield.refits.refits import Refits

__all__ = ["Refits", "Tests"]
