"""What the daemon tells Prometheus about itself: plain numbers that it counts, and the page that they are read from."""
