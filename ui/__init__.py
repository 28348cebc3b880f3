"""The pages: one FastAPI app with a small Gradio page per purpose. Knows no SQL."""
