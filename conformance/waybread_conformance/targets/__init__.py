"""What the cases can be run against: a program on stdin and stdout, a running daemon, this package itself."""
