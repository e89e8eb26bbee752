"""Between the host and the handlers: which row it is, who asks, how often, how much; and how it
came out.

`tree` method and path to a row · `rates` how often · `counts` what came out · `app` all of it in
its order.
"""
