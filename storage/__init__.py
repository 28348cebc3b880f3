"""Keeps sessions: rows on SQLite (or any SQLAlchemy database), values outside."""
