"""How fast the daemon is: ratios to limits that are measured in the same run on the same machine.

`python -m tests.bench` measures every row and prints a table; `--only NAME` measures one of them.
"""
