"""The rules of context hygiene: pure functions and one state, without a loop, a socket, a clock or a disk.

The state of a session is a fold over its events (`session`), and every answer is made from that state and the facts of
a request, so a state that is folded again from stored events answers with the same bytes.
"""
