"""The commands of `waybread`, a module each. A module's `main(words, environment)` carries it out and gives the status."""
