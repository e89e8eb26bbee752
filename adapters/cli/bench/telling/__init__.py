"""The telling of a run: its figures, and what is made of them. All of it is pure.

figures    counts percentiles, medians of repeats, ratios; says which rows are unfit
documents  keeps a run with its settings and versions, as JSON
tables     tells a run as text and as Markdown
comparing  tells two runs side by side, in view of their noise
drawing    tells a run as SVG
"""
