"""What the daemon does with a request: the order within a session, the rules, the store, and the answer.

This room knows no socket and no codec: it takes messages and gives messages, so that the same work is done for a link,
for a command and for the conformance cases.
"""
