"""The data card: what a folder of training data holds, how it was made, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.training.building import DataSet
from core.training.diversity import Diversity

_COLUMNS = {
    "sft": "`prompt` and `completion`, lists of messages (TRL: SFT, conversational, prompt and completion)",
    "gsr": "`prompt` and `completion`, lists of messages (TRL: SFT, conversational, prompt and completion)",
    "dpo": "`prompt`, `chosen` and `rejected`, lists of messages (TRL: preference, conversational)",
}
_KINDS = {
    "sft": "Supervised fine-tuning: texts that were found good.",
    "dpo": "Preferences: pairs of texts for one prompt, of which one was found better.",
    "gsr": "Generative self-refinement: direct answers, and answers written from candidates "
    "(arXiv 2509.00084). Sets of candidates that are all wrong are kept.",
}


def card(data: DataSet, files: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    """The card as Markdown, with the head by which `datasets.load_dataset(FOLDER)` finds the files."""
    plan = data.plan
    parts = [
        *_head(files),
        f"# Training data from Redraft ({plan.kind})",
        "",
        f"{_KINDS[plan.kind]} The columns are {_COLUMNS[plan.kind]}.",
        "",
        *_files(files),
        *_counts(data),
        *_made(data, chosen),
        *_variety(data.before, data.after),
        *_to_know(data),
    ]
    return "\n".join(parts)


def _head(files: Mapping[str, Any]) -> list[str]:
    splits = [
        (split, name)
        for split, name in (("train", "train.jsonl"), ("test", "heldout.jsonl"))
        if name in files
    ]
    listed = [line for split, name in splits for line in (f"  - split: {split}", f"    path: {name}")]
    return ["---", "configs:", "- config_name: default", "  data_files:", *listed, "---", ""]


def _files(files: Mapping[str, Any]) -> list[str]:
    rows = [f"| {name} | {each['rows']} | {each['sha256']} |" for name, each in files.items()]
    told = "`provenance/rows.jsonl` says of every row from which session and step it came, and why."
    return ["## Files", "", "| file | rows | SHA-256 |", "|---|---|---|", *rows, "", told, ""]


def _counts(data: DataSet) -> list[str]:
    out = [f"- {number} left out: {why}" for why, number in sorted(data.tally.left_out.items())]
    warned = [f"- Mind {number} rows: {what}" for what, number in sorted(data.tally.warned.items())]
    every = (*data.train, *data.held_out)
    ways = [f"{sum(each.way == way for each in every)} {way}" for way in ("direct", "refine")]
    wrong = sum(each.origin.all_wrong is True for each in every)
    kept = f"- {data.rows} kept ({', '.join(ways)}), {wrong} of them from candidates that are all wrong"
    return ["## Rows", "", f"{data.tally.seen} examples were found:", "", kept, *out, *warned, ""]


def _made(data: DataSet, chosen: Mapping[str, Any]) -> list[str]:
    plan = data.plan
    tests = ", ".join(data.tests.texts) if data.tests else "no file"
    said = [f"- {name.replace('_', ' ')}: {_code(value)}" for name, value in sorted(chosen.items()) if value]
    return [
        "## How it was made", "", *said,
        f"- Rows of one task whose texts have a Jaccard index of {plan.near:g} or more (five characters "
        "in a row) are one.",
        f"- Held out are {plan.held_out:.0%} of the tasks, drawn with seed {plan.seed}; tasks that are "
        "nearly the same are on one side.",
        f"- Looked for passages of: {tests}.", "",
    ]  # fmt: skip


def _code(value: object) -> str:
    text = str(value).replace("`", "'")
    return f"`{' '.join(text.split())}`"


def _variety(before: Diversity, after: Diversity) -> list[str]:
    rows = [
        ("texts", before.texts, after.texts),
        ("effective number of different texts (Vendi score)", f"{before.vendi:.1f}", f"{after.vendi:.1f}"),
        ("mean similarity of two texts (cosine)", _known(before.similarity), _known(after.similarity)),
        ("words that are different", f"{before.distinct_words:.3f}", f"{after.distinct_words:.3f}"),
        (
            "pairs of words that are different",
            f"{before.distinct_pairs:.3f}",
            f"{after.distinct_pairs:.3f}",
        ),
    ]
    lines = [f"| {name} | {one} | {other} |" for name, one, other in rows]
    return ["## Variety of the texts to learn", "", "| | all | kept |", "|---|---|---|", *lines, ""]


def _known(value: float | None) -> str:
    return "undefined: fewer than two texts" if value is None else f"{value:.3f}"


def _to_know(data: DataSet) -> list[str]:
    return [
        "## To know",
        "",
        "- The texts were written by the models and people that `provenance/rows.jsonl` names; their "
        "licences and terms apply, and Redraft does not know them.",
        "- Texts may hold personal data. Redraft does not look for any.",
        "- Passages of test files are found word by word; a test that was paraphrased is not.",
        "",
    ]
