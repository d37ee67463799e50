"""The wire contract of Waybread: messages, codecs, error codes, and the numbers and texts of context hygiene.

Everything here is pure. It imports msgspec alone, and nothing of it opens a socket, reads a clock or waits.
"""
