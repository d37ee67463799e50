"""The link: sockets, frames, who may do what, and pushes. What a request does stands in `sessions`."""
