"""Replies that are not the text, told from texts that only look like it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from core.detect import flags
from core.domain import Finish, Flag
from tests.detector_labels import agreement, attempts, corpus, wordings

SOURCE = "The soup was cold and nobody came when we called."

META = [
    "Here is the revised text:\n\nThe soup was warm.",
    "Sure! Here's a shorter version of your message:\n\nThe soup was warm.",
    "Here are three improved versions:\n1. Warm soup.",
    "**Revised text:**\n\nThe soup was warm.",
    "Rewritten review: The soup was warm.",
    "The revised version is shorter and keeps the meaning.",
    "This rewritten paragraph uses warmer words throughout.",
    "The text is already clear and needs no work.",
    "The sentence is grammatically correct.",
    "The review sounds very positive.",
    "The passage cannot be improved further.",
    "The draft does not need any editing.",
    "There is no need to rewrite this again.",
    "There's no need to change the text, it says all it should.",
    "No further changes are needed.",
    "No text provided.",
    "There is no review to rewrite.",
    "N/A",
    "Feedback: this is fine now.",
    "Please provide the text you would like me to shorten.",
    "Please share a paragraph for me to edit.",
    "I'm sorry, but I don't see any text in your request.",
    "Sorry, there seems to be an error in your prompt.",
    "As a language model, I find this text very good.",
    "The soup was warm.\n\nI removed the unnecessary words to make it shorter.",
    "The soup was warm.\n\n(Note: I've kept the tone of the original text.)",
    "The soup was warm. This change makes the sentence more concise.",
    "The soup was warm.\n\nLet me know if you need any further revisions!",
    "Very positive",
    "VERDICT: done",
    '- [major] "soup" | cold | hot',
    "The sentiment is now very positive.",
    "Why is this review not very positive?",
    "To make it more polite, a greeting could be added.",
    "Below is the revised message:\n\nThe soup was warm.",
    "Here you go:\n\nThe soup was warm.",
    "Here's my attempt at a rewrite:\n\nThe soup was warm.",
    "I've rewritten the review to be more positive:\n\nThe soup was warm.",
    "The revision addresses all of the feedback.",
    "I have addressed all the points in the critique.",
    "This code is already optimal.",
    "I made the following changes:",
    "The soup was warm.\n\n---\n**Changes:** made it shorter",
    "The soup was warm.\n\nThis version is more concise and keeps the original meaning.",
    "The soup was warm.\n\nWould you like me to make any other changes?",
    "Could you please provide the text?",
    "Could you share the paragraph you'd like me to edit?",
    "It looks like you haven't provided a text.",
    "What text would you like me to rewrite?",
    "I cannot provide feedback as there is no text.",
    "I can't rewrite anything without a text.",
    "Score: 8",
]

REFUSALS = [
    "I'm sorry, but I can't assist with that.",
    "I cannot write this review because it names a real person.",
    "As an AI language model, I cannot comment on restaurants.",
    "Unfortunately, I am unable to generate such content.",
    "I can't help with that request.",
    "I won't write that kind of text.",
    "I apologize, but it would be inappropriate to go on.",
    "I'm unable to assist with that.",
    "I'm not able to fulfill this request.",
    "I won't be able to help with this request.",
    "I cannot in good conscience write this.",
    "I'd rather not write this.",
    "I'm not comfortable rewriting this text.",
    "I'm going to have to decline this one.",
    "This request violates my guidelines.",
    "It would be unethical to rewrite this review as a positive one.",
    "It is not possible to rewrite this review with a positive tone.",
    "The review cannot be made positive without changing its meaning.",
]

CLEAN = [
    "The soup was warm and somebody came at once.",
    "I wrote this review because the first one was lost.",
    "After reading every review, we booked a table.",
    "The reviews are right: go there.",
    "Sorry that we came late; the soup was gone.",
    "I'm sorry, but I can't come on Friday.",
    "I can't help but smile when I think of it.",
    "I cannot recommend this place enough!",
    "Unfortunately I won't be able to attend the meeting.",
    "Here is a great place to eat.",
    "Here are the facts: the soup was cold.",
    "The text on the wall reads 'Welcome'.",
    "This letter is to inform you that your order has left.",
    "This message is for everyone who was there.",
    "Please send me the report by Monday.",
    "There is no need to book; just walk in.",
    "There is no reason to change anything about this place.",
    "No reservations needed!",
    "I changed my mind about the soup.",
    "I removed the lid and the soup was cold.",
    "I kept the change and left.",
    "The version on the menu costs less.",
    "As an AI researcher, I eat out a lot.",
    "Let me know if you need anything else.",
    "Please note that the kitchen closes at ten.",
    "What a positive evening, with no negative word said.",
    "Note: the kitchen closes at ten.",
    "We edited the menu together.",
    "To make it more fun, they gave us balloons.",
    "我们喝了热汤。这篇评论已经很好了。",
    "Hier ist der Text der Speisekarte.",
    "Voici la version corrigée du menu.",
    "No hay necesidad de reescribir la carta.",
    "申し訳ありませんが、参加できません。",
    "4",
    "I'm comfortable writing this in a café.",
    "I do not support such a tax.",
    "I must respectfully decline your invitation.",
    "It is not possible to write a review without an account.",
    "It would be unethical to sell this.",
    "This violates the lease.",
    "I cannot go, as there is no information on trains.",
    "I can't believe there is no message from you.",
    "I have made the statement that you asked for public.",
    "Nothing needs to be changed, it was perfect!",
    "Here you go, the keys are inside.",
    "Below is our updated price list.",
    "Changes of the timetable: none.",
    "This version of the song is better.",
    "Could you please send me the letter?",
    "The story is still worth reading.",
]


def of(text: str, finish: Finish = "stop", source: str = SOURCE) -> tuple[Flag, ...]:
    return flags(text, finish=finish, source=source)


@pytest.mark.parametrize("text", META)
def test_remarks_about_the_text_are_meta_text(text: str) -> None:
    assert "meta-text" in of(text)


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals(text: str) -> None:
    assert "refusal" in of(text)


@pytest.mark.parametrize("text", CLEAN)
def test_texts_that_mention_texts_are_not_flagged(text: str) -> None:
    assert of(text) == ()


@pytest.mark.parametrize("text", [*META, *REFUSALS])
def test_a_source_of_that_kind_makes_it_the_text(text: str) -> None:
    assert of(text, source=text) == ()


def test_a_remark_inside_a_sentence_or_in_the_middle_of_a_long_text_is_part_of_it() -> None:
    assert of("She said that the text is already clear and left.") == ()
    padding = "They ate. " * 10
    assert of(f"{padding}The text is already clear. {padding}") == ()
    assert of(f"The text is already clear. {padding}") == ("meta-text",)
    assert of(f"{padding}The text is already clear.") == ("meta-text",)


@pytest.mark.parametrize("text", ["", " \n", "\u200b\ufeff", "\u00a0"])
def test_nothing_to_see_is_empty(text: str) -> None:
    assert of(text) == ("empty",)


def test_how_a_reply_ended() -> None:
    assert of("The soup was", "length") == ("cut off",)
    assert of("The soup was", "stopped") == ("cut off",)
    assert of("The soup was", "content_filter") == ("filtered",)
    assert of("", "length") == ("empty", "cut off")
    assert of("The soup was warm.", "unknown") == ()
    assert of("```python\nx = 1") == ("cut off",)
    assert of("```python\nx = 1", source="```python\nx = 2") == ()


def test_curly_apostrophes_and_leads_do_not_hide_a_remark() -> None:
    assert of("Here’s the revised text:\n\nWarm soup.") == ("meta-text",)
    assert of("> **The text is already clear.**") == ("meta-text",)


@pytest.mark.parametrize("text", ["the " * 50_000, "a." * 50_000, "please provide a " * 9_000, "\ud800\x00"])
def test_long_and_hostile_texts_are_read(text: str) -> None:
    assert of(text) == ()


def test_a_remark_anywhere_in_the_source_makes_one_at_an_end_part_of_the_text() -> None:
    letters = "We met. " * 10
    note = "No changes are needed."
    assert of(f"We met. {note}", source=f"{letters}{note} {letters}") == ()
    assert of(f"We met. {note}", source=letters) == ("meta-text",)


def test_asking_for_a_text_is_no_refusal() -> None:
    assert of("I apologize, but I cannot provide feedback as there is no review to work with.") == (
        "meta-text",
    )
    assert of("I'm sorry, I cannot provide an output without a review to rewrite.") == ("meta-text",)


def test_the_labels_are_of_the_texts_they_stand_beside() -> None:
    texts = attempts()
    assert len(texts) == len({one.place for one in texts}) == 342
    assert all(hashlib.sha256(one.text.encode()).hexdigest() == one.sha256 for one in texts)
    assert {one.half for one in texts} == {"seen", "held out"}


@pytest.mark.parametrize("half", ["seen", "held out"])
def test_flags_agree_with_labels_given_by_reading(half: str) -> None:
    found = agreement([one for one in attempts() if one.half == half], "any")
    assert found.labelled >= 90
    assert found.precision == 1.0
    assert found.recall >= 0.98


def test_flags_on_wordings_that_no_pattern_was_written_for() -> None:
    texts = wordings()
    assert [one.text for one in texts if one.label == "fine" and of(one.text)] == []
    assert agreement(texts, "any").recall >= 0.7
    assert agreement(texts, "refusal").recall >= 0.5


def test_every_real_attempt_that_was_read_as_fine_is_left_alone() -> None:
    folder = os.environ.get("REDRAFT_TEST_DATA")
    if not folder:
        pytest.skip("REDRAFT_TEST_DATA does not name the folder with the trajectories")
    texts = corpus(Path(folder))
    checked_in = {one.place: one for one in attempts()}
    assert len(texts) == 1140
    same = [one for one in texts if one.place in checked_in and one.text == checked_in[one.place].text]
    assert len(same) == len(checked_in)
    assert all(one.half == checked_in[one.place].half for one in same)
    assert agreement(texts, "any").precision == 1.0
    assert not any(of(one.source, source="") for one in texts)
