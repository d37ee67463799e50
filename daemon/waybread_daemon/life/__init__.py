"""The daemon's life as a process: what tells it to stop or to reload, whom it tells how it fares, how it is found."""
