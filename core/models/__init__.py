"""Models behind one Protocol; each backend's library is imported by its own module, on first use."""
