"""The whole app as a process, asked over HTTP: its pages are there, at their addresses, with their parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.browser.conftest import Server

BELOW = ("history", "session", "compare", "insight", "presets", "studies", "candidates")
PATHS = ("/", *(f"/{name}/" for name in BELOW))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server")).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def web(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30, trust_env=False) as client:
        yield client


def app_id(page: str) -> str:
    found = re.search(r'"app_id":"?(\w+)', page)
    assert found
    return found.group(1)


def test_all_pages_open_in_two_tabs_at_once_and_are_made_once(web: httpx.Client) -> None:
    with ThreadPoolExecutor(2 * len(PATHS)) as pool:
        pages = list(pool.map(web.get, PATHS * 2))
    assert {page.status_code for page in pages} == {200}
    assert [app_id(page.text) for page in pages[: len(PATHS)]] == [
        app_id(page.text) for page in pages[len(PATHS) :]
    ]
    assert len({app_id(page.text) for page in pages}) == len(PATHS)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_knows_its_address_and_has_its_parts(web: httpx.Client, path: str) -> None:
    page = web.get(path, params={"session": "0"})
    nonce = re.search(r"'nonce-([\w-]+)'", page.headers["content-security-policy"])
    assert nonce and f'<script nonce="{nonce.group(1)}"' in page.text
    assert f'"root":"{str(web.base_url).rstrip("/")}{path.rstrip("/")}"' in page.text
    # In the configuration the head's quotes are escaped.
    files = re.findall(r"/web/\w+\.(?:css|js)", page.text)
    assert len(set(files)) >= 5
    assert {web.get(file).status_code for file in files} == {200}
    assert web.get(f"{path}theme.css").headers["content-type"].startswith("text/css")
    assert web.get(f"{path}gradio_api/app_id").json()["app_id"] == int(app_id(page.text))


@pytest.mark.parametrize("name", BELOW)
def test_a_page_without_its_slash_leads_to_it_with_what_was_asked(web: httpx.Client, name: str) -> None:
    assert web.get(f"/{name}").headers["location"] == f"{name}/"
    assert web.get(f"/{name}", params={"session": "a b"}).headers["location"] == f"{name}/?session=a+b"


def test_what_is_not_there_is_not_found(web: httpx.Client) -> None:
    assert [web.get(path).status_code for path in ("/nowhere", "/history/nowhere", "/web/nowhere")] == [
        404
    ] * 3


def test_the_start_and_all_that_says_nothing_but_the_address(web: httpx.Client, server: Server) -> None:
    assert web.get("/").status_code == 200
    assert server.log.read_text().splitlines() == [f"Redraft is at {server.url}"]
