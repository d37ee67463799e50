"""The daemon: rules, store, sessions, link, and the commands that a person types."""

VERSION = "0.1.0"
"""The same as in pyproject.toml. It stands here, so that `waybread --version` need not look through what is installed."""
