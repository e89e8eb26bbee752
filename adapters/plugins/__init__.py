"""Plugins: code of others that runs in this process and harms only itself (docs/plugins.md).

For other rooms:
    identity   their identity sources, for who asks over HTTP
    providers  their providers, for the catalogue of models
    tools      their tools, for chats
    plugins    all plugins of a process: loaded, watched and ended with it

Inside:
    loading    finds and imports the distributions that bring them
    calls      the calls into such a thread, and what is counted of them
    loop       the thread in which the code of one of them runs, and calls into it
    streams    the output of a plugin's generator, in batches
"""
