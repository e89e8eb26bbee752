"""Policy hooks: what is asked of a server of the deployment, and what follows from its answers.

port    the questions, the answers, and who is asked
rules   what follows from an answer; pure
"""
