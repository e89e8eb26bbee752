"""Routes about people.

accounts       names, roles and status of users
all_routes     the routes below, put together
checks         checks of these requests
forms          forms of pages, and what shows that they are ours
organizations  the one organization and its members
passwords      passwords, and one-time links with their pages
permissions    what the caller may do, and which roles there are
schemas        people as JSON
sessions       logging in and out, and tickets
tokens         personal tokens
"""
