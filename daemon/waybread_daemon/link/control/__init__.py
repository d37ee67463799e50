"""The control socket: how the owner at the machine speaks to the daemon that runs.

`waybread.sock` lies in the data folder, for its owner alone: no link reaches it. What can be asked stands in `messages`,
one JSON object a line.
"""
