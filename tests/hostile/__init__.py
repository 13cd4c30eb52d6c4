"""Hostile but finite inputs, and the laws that hold for them."""
