"""The web interface: the files of the page, and the pages that the daemon makes itself.

For other rooms:
routes  all routes of the web interface

Inside:
footnotes     footnotes as a rule of the parser of Markdown
inner         requests to our own API, in the name of the caller of a page
login         the page where one logs in, which works without a script
markdown      Markdown as HTML that holds nothing but text
pages         the shell of the page, with the data that it shows first
policy        the headers that bound what a page of ours may do
readable      messages as HTML that needs no script
reading       the pages of a chat without a script
refusal_page  a refusal as a page
serving       the files that the browser runs, served from memory
"""
