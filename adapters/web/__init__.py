"""The web interface: the files of the page, and the pages that the daemon makes itself.

For other rooms:
assets  the files that the browser runs, served from memory
routes  all routes of the web interface

Inside:
login   the page where one logs in, which works without a script
pages   the shell of the page, with the data that it shows first
policy  the headers that bound what a page of ours may do
"""
