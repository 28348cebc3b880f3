"""The preset that imported sessions carry: it words a request for what the file holds, and ends nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence

NAME = "imported"

_TEXT = """\
# The words of a session that was made of a file. The prompts that were really sent are not in such files.
name: imported
title: Imported drafts and revisions
description: Texts that were drafted and revised elsewhere. The prompts that were really sent are not known.
parse: {parse}
stop: none
{labels}fields:
  input: Text
  instruction: What to do with it
templates:
  system: ""
  draft: |
    {{% if instruction %}}Instruction: {{{{ instruction }}}}

    {{% endif %}}{{% if target %}}Target: {{{{ target }}}}

    {{% endif %}}{{{{ input }}}}
  critique:
    specific: |
      What could be better about your last text?
    generic: |
      What could be better about your last text?
  revise: |
    Write the text anew. Reply with the text alone.
  revise_again: |
    Write the text anew. Mind this as well: {{{{ note }}}}
    Reply with the text alone.
  kept: |
    {{% if reason %}}
    Your last text was not kept ({{{{ reason }}}}).
    {{% endif %}}
    {{% if current %}}
    The text now reads:
    {{{{ current }}}}
    {{% endif %}}
"""


def preset_text(labels: Sequence[str] = ()) -> str:
    """The preset's YAML, with a scale of labels where texts have labels."""
    listed = f"labels: {json.dumps(list(labels))}\n" if labels else ""
    return _TEXT.format(parse="label_and_points" if labels else "one_point", labels=listed)
