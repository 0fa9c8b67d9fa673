"""`kaijin simulate host`: the other way round. Scripts drive a firmware and write the record of an end-of-line test.

`script` reads them, `steps` does what they say on a `Bench`, `fairness` judges dice, `limits` says what is good enough,
`record` is what remains. docs/end-of-line.md.
"""
