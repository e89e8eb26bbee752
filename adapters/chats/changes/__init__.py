"""The changes of chats as forges know them: branches, pull requests, and pushing them there.

pull_requests  repositories, pull requests, and how long an answer is good for         (pure)
forge_client   requests to the API of a forge, and what its answers mean for the next one
github         pull requests as GitHub tells of them
gitlab         merge requests as GitLab tells of them
forge_apis     the forges that are known
store          branches of chats and tokens at forges, on PostgreSQL
overview       the state of users' tokens, as administrators are told of it
refresher      asks forges about all chats, in batches
branches       finds out which branch a chat works on
git_gate       lets git in a sandbox reach a forge without a token
wiring         all of it, put together
"""
