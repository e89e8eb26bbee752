"""Failed calls of a provider: their signs, their kind, and the words for people.

classify  the kind of a failure, whether it is tried again, its message
signals   what can be seen of a failed call
wording   messages for the person who reads them
"""
