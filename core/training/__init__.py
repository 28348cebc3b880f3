"""Sessions and votes as data to train models on."""
