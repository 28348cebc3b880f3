"""What the guard refuses and what it says to browsers."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from ui.guard import LOOPBACK, Guard

PAGE = "<html><script>gradio()</script><script src='/x.js'></script></html>"


def get(
    host: str, hosts: frozenset[str] | None = LOOPBACK, path: str = "/", **headers: str
) -> httpx.Response:
    app = FastAPI()
    for each in ("/", "/api/history/export"):
        app.add_api_route(each, lambda: HTMLResponse(PAGE))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(Guard(app, hosts))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask())


@pytest.mark.parametrize("host", ["localhost:7860", "127.0.0.1:7860", "[::1]:7860"])
def test_its_own_names_are_served(host: str) -> None:
    assert get(host).status_code == 200


def test_a_name_that_was_pointed_here_is_refused_with_what_to_do() -> None:
    refused = get("evil.example:7860", Origin="http://evil.example:7860")
    assert refused.status_code == 403
    assert "--allow-host evil.example" in refused.json()["error"]
    assert get("evil.example", LOOPBACK | {"evil.example"}).status_code == 200
    assert get("any.example", None).status_code == 200


def test_another_sites_page_is_refused() -> None:
    assert get("localhost:7860", Origin="http://evil.example").status_code == 403
    assert get("localhost:7860", Origin="null").status_code == 403
    assert get("localhost:7860", Origin="http://localhost:7860").status_code == 200


@pytest.mark.parametrize(
    ("path", "site", "status"),
    [
        ("/api/history/export", "cross-site", 403),
        ("/api/history/export", "same-origin", 200),
        ("/api/history/export", "none", 200),
        ("/", "cross-site", 200),  # a link to a page, as from a mail
    ],
)
def test_what_another_sites_page_shows_is_no_answer_of_this_one(path: str, site: str, status: int) -> None:
    assert get("localhost:7860", LOOPBACK, path, **{"Sec-Fetch-Site": site}).status_code == status


def test_inline_scripts_run_by_a_nonce_that_is_new_every_time() -> None:
    nonces = set()
    for _ in range(2):
        answer = get("localhost:7860")
        policy = answer.headers["content-security-policy"]
        nonce = re.search(r"'nonce-([^']+)'", policy)
        assert nonce and answer.text.count(f'<script nonce="{nonce.group(1)}"') == 2
        assert "unsafe-inline" not in policy.split("style-src")[0]
        assert int(answer.headers["content-length"]) == len(answer.content)
        nonces.add(nonce.group(1))
    assert len(nonces) == 2
