"""The History page: every session made here, to search, open, fork, delete and bring back.

A frame only: assets/web/history.js fills it from ui/history_routes.py. Knows no session.
"""

from __future__ import annotations

import gradio as gr

from ui import navigation
from ui.history_routes import LONGEST_QUERY

_LIST = """
<div class="rd-list" data-state="loading">
  <h1>History</h1>
  <form class="rd-search" role="search">
    <label for="rd-query">Search in texts, instructions and titles</label>
    <div class="rd-search-box">
      <input id="rd-query" type="search" maxlength="@longest@" autocomplete="off" enterkeyhint="search">
      <button type="submit">Search</button>
    </div>
  </form>
  <p class="rd-list-error" role="alert"></p>
  <p class="rd-list-status" role="status"></p>
  <p class="rd-none">Every session that you start is kept here, with all its steps.
    <a href="/">Start the first on the Refine page.</a></p>
  <p class="rd-no-match"><button type="button" class="rd-all">Show all sessions</button></p>
  <ol class="rd-sessions" aria-label="Sessions, newest first"></ol>
  <button type="button" class="rd-show-more">Show more</button>
</div>
"""


def build() -> gr.Blocks:
    """The page."""
    page: gr.Blocks
    with gr.Blocks(title="Redraft: history", analytics_enabled=False, fill_width=True) as page:
        navigation.bar("History")
        gr.HTML(
            None,
            html_template=_LIST.replace("@longest@", str(LONGEST_QUERY)),
            js_on_load="""
                const start = () => window.redraftHistory ? window.redraftHistory(element)
                                                          : setTimeout(start, 20);
                start();
            """,
            apply_default_css=False,
            elem_id="history",
        )
    return page
