"""Access: who may see and change a chat, and how a request for a change reaches the ledger.

For other rooms:
    admission    who gets at which chat, asked once for each request
    acl          lists of readers: stored, shown, changed; chats and servers of tools have them
    hooked_requests  prompts that a policy hook is asked about before they are sent
    changes      requests that change a chat: sent, or refused with what the API answers
"""
