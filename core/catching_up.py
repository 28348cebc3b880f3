"""Lets lists catch up with sessions of earlier versions, and with those that a crash cut short.

Goes on in the background, newest first, some at a time; begun anew it goes on where it was. Knows no SQL.
"""

from __future__ import annotations

import asyncio

from core.sessions import Store, StoreBusy

AT_A_TIME = 50
BUSY_SECONDS = 5.0


async def catch_up(store: Store) -> None:
    """Fold what lists are behind of, until a batch is not full: what runs meanwhile is folded by its run."""
    while True:
        try:
            if await asyncio.to_thread(store.fold_behind, AT_A_TIME) < AT_A_TIME:
                return
        except StoreBusy:
            await asyncio.sleep(BUSY_SECONDS)
