"""The store: what any store promises, and SQLite's way of keeping it."""
