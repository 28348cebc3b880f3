"""What all tests share."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: once Playwright runs in a process, asyncio.run can't any more.

    They are told by the folder they are in, so that no file can forget to say so.
    """
    for item in items:
        if item.path.parent.name == "browser":
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
