"""The API described, for machines (OpenAPI 3.1) and for people: made of the rows, so never stale.

`document` rows to the document · `page` the document as one page · `published` both, served.
"""
