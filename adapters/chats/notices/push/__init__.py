"""Web push: notices for browsers that do not show the page.

encryption     messages that only one browser can read, and who sends them        (pure)
keys           the key pair of this deployment, made once
posting        an event posted to the push service of a browser
routes         subscriptions over the API
subscriptions  subscriptions on PostgreSQL
"""
