"""The page for phones: its files, and how they are answered."""
