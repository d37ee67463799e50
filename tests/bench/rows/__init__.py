"""The rows of the table: each function measures and gives its figures."""
