"""Loads training data as it is and takes one step of each trainer with a tiny model: run apart, prints JSON.

Usage: python trl_step.py SFT_FOLDER DPO_FOLDER. A process of its own, since trainers warn of
much, keep caches and set up devices. Nothing is looked for outside.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main(folders: Mapping[str, Path]) -> None:
    """Print what was seen as one JSON document, the last line."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=scratch, HF_DATASETS_CACHE=f"{scratch}/datasets",
                          TRANSFORMERS_OFFLINE="1", CUDA_VISIBLE_DEVICES="")  # fmt: skip
        print(json.dumps({kind: _seen(folder, kind, Path(scratch)) for kind, folder in folders.items()}))


def _seen(folder: Path, kind: str, scratch: Path) -> dict[str, Any]:
    import datasets
    from transformers import AutoTokenizer

    from tests.tiny_model import write_model

    by_name = datasets.load_dataset("json", data_files={"train": str(folder / "train.jsonl")})["train"]
    by_card = datasets.load_dataset(str(folder))
    tokenizer = AutoTokenizer.from_pretrained(write_model(scratch / "model", max_position_embeddings=1024))
    trainer = _trainer(kind, scratch, by_name, tokenizer)
    batch = next(iter(trainer.get_train_dataloader()))
    result = trainer.train()
    return {
        "columns": {name: str(each) for name, each in by_name.features.items()},
        "splits": {name: len(part) for name, part in by_card.items()},
        "rows": list(by_name),
        "prompts": [_ids(tokenizer, row["prompt"], True) for row in by_name],
        "wholes": [
            _ids(tokenizer, [*row["prompt"], *row[c]], False) for row in by_name for c in row if c != "prompt"
        ],
        "batch": {name: value.tolist() for name, value in batch.items()},
        "pad": tokenizer.pad_token_id,
        "steps": result.global_step,
        "loss": result.training_loss,
    }


def _ids(tokenizer: Any, messages: list[dict[str, str]], asked: bool) -> list[int]:
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asked)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _trainer(kind: str, scratch: Path, rows: Any, tokenizer: Any) -> Any:
    import trl  # its lazy names are known to no type checker

    trainers: Any = trl
    config, trainer = {
        "sft": (trainers.SFTConfig, trainers.SFTTrainer),
        "dpo": (trainers.DPOConfig, trainers.DPOTrainer),
    }[kind]
    settings = config(
        output_dir=str(scratch / "out"), max_steps=1, per_device_train_batch_size=len(rows), report_to=[],
        use_cpu=True, bf16=False, disable_tqdm=True, save_strategy="no", seed=3,
    )  # fmt: skip
    return trainer(
        model=str(scratch / "model"), args=settings, train_dataset=rows, processing_class=tokenizer
    )


if __name__ == "__main__":
    main({"sft": Path(sys.argv[1]), "dpo": Path(sys.argv[2])})
