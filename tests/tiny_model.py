"""Makes tiny language models with their tokenizers in a folder, in about a second: for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CORPUS = [
    "The food was really fantastic and the service was slow, but everybody was friendly.",
    "the answer of the task is the shortest text that meets the instruction",
    "海洋の温度が上がる 预算为五万元 你好世界",
    "system user assistant hello hello world",
]
SIZES: Mapping[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 160,
    "initializer_range": 0.3,
    "tie_word_embeddings": True,
}


def byte_level_tokenizer() -> Any:
    """A byte-level BPE of 330 tokens, trained on a few lines."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    built = Tokenizer(models.BPE())
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=[AddedToken(t, special=True, normalized=False) for t in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    built.train_from_iterator(CORPUS * 3, trainer)
    return built


def sentencepiece_tokenizer() -> Any:
    """A BPE in SentencePiece's spelling: "▁" for spaces, one before the text, bytes for unknown letters."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

    letters = ["▁", *"abcdefghijklmnopqrstuvwxyzT.,"]
    merges = [("▁", "t"), ("h", "e"), ("▁t", "he"), ("l", "l"), ("▁", "▁")]
    tokens = ["<unk>", *SPECIAL, *(f"<0x{b:02X}>" for b in range(256)), *letters, *map("".join, merges)]
    built = Tokenizer(
        models.BPE(
            vocab={t: i for i, t in enumerate(tokens)}, merges=merges, unk_token="<unk>", byte_fallback=True
        )
    )
    built.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    built.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    built.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    return built


def write_model(
    folder: Path, *, tokenizer: Any = None, chat: bool = True, family: str = "Llama", **config: Any
) -> Path:
    """A random model of that family, always the same one, with its tokenizer, in `folder`."""
    return _write(folder, f"{family}ForCausalLM", family, tokenizer, chat, config)


def write_classifier(folder: Path, classes: Sequence[str], *, chat: bool = True) -> Path:
    """A random sequence classifier with these classes, always the same one, in `folder`."""
    named = {"id2label": dict(enumerate(classes)), "label2id": {c: i for i, c in enumerate(classes)}}
    return _write(folder, "LlamaForSequenceClassification", "Llama", None, chat, named)


def _write(
    folder: Path, kind: str, family: str, tokenizer: Any, chat: bool, config: Mapping[str, Any]
) -> Path:
    import torch
    import transformers

    built = tokenizer or byte_level_tokenizer()
    settings = {
        **SIZES,
        "vocab_size": built.get_vocab_size(),
        "bos_token_id": 1,
        "eos_token_id": built.token_to_id("<|im_end|>"),
        "pad_token_id": built.token_to_id("<|endoftext|>"),
        **config,
    }
    hushed: Any = transformers.utils.logging
    hushed.disable_progress_bar()
    torch.manual_seed(5)
    model = getattr(transformers, kind)(getattr(transformers, f"{family}Config")(**settings))
    model.save_pretrained(folder)
    built.save(str(folder / "tokenizer.json"))
    named = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>"}
    template = {"chat_template": CHAT_TEMPLATE} if chat else {}
    (folder / "tokenizer_config.json").write_text(json.dumps(named | template))
    return folder
