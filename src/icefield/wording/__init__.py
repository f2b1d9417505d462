"""Everything put into words: names (`names`), values and numbers (`values`), the labels around a picture
(`labels`), and what a reading or its support says, for analysts and for plain readers (`sentences`).

Words follow from results and decide nothing: what counts as flat, hidden or doubtful is a property of the
`Reading` or the `Support`, and the modules here only phrase it.
"""
