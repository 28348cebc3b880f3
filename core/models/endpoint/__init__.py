"""The parts of openai_compatible.py, one concern each: from the bytes of a stream to plain words."""
