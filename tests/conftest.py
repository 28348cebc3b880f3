"""What all tests share."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: once Playwright runs in a process, asyncio.run can't any more."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
