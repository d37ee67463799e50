"""Cases for the rules of context hygiene and for the link, and the runner that tries any implementation on them."""
