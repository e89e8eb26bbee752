"""The actors: what a chat is and does. They know the kernel and reach the world through ports.

A room imports only the rooms above it in this list.

law/         states, transitions, fences, the parts of a message, failures, ids, store ports
tools/       calls of tools, approvals, arguments, the rules of a workspace
prompts/     what a model is told: projection, compaction, context, plans, skills
agents/      parents and children
streams/     previews, feeds, subscriptions, what is relayed between processes
chat/        the actor of a chat, and its turns
upkeep/      titles, summaries, advice: what a model is asked beside the turn; housekeeping
supervisor/  acquisition, slots, leases, drain
"""
