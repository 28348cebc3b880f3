"""Drafts and revisions of elsewhere as sessions."""
