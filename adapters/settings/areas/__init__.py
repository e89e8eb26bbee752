"""Settings of one area each, which are more than the table has room for.

oversight  policy hooks, and records of model calls: a base of `Config`
providers  the settings of providers of models, a few for each
"""
