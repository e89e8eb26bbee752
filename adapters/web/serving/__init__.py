"""The files that the browser runs, served from memory.

asset_routes  the routes of these files
assets        all files of one version, and the digest that names it
joining       modules joined to few files
squeezing     JavaScript without comments and needless blanks
"""
