"""Which calls need a person's consent before they run.

That a call waits for a decision, and what was decided, is the stored chat's (actors/law); here
is who is asked about what.

policy   what is allowed, asked or denied: rules of the deployment, the chat's own policy (pure)
sorting  the calls of a step: run, denied, to be asked about                               (pure)
ports    what people have allowed always
"""
