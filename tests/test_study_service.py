"""The owner's side: one way from draft to unblinding, names found before, nothing told too early."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from core.studies.blinding import PairView, Progress, RaterView
from core.studies.exports import ExportForm, as_json, export
from core.studies.figures import Undefined
from core.studies.material import Entry
from core.studies.monitor import monitor
from core.studies.protocol import BadStudy, Exclusion, StudyProtocol, protocol_hash
from core.studies.records import UnknownStudy
from core.studies.results import report_of, results
from core.studies.votes_elsewhere import ForeignVote
from tests.studies import OWNER, USUAL, House, ballot, entries


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def river(view: RaterView) -> str:
    """The taste of a rater who likes rivers, which zeta-q4 writes about."""
    assert view.pair
    return "left" if "river" in view.pair.left else "right"


def voted(house: House, protocol: StudyProtocol = USUAL, number: int = 6, raters: int = 3) -> str:
    """A study in which everybody preferred zeta-q4."""
    study = house.open(protocol, entries(number))
    for token in house.raters(study, raters):
        house.rate(token, river)  # type: ignore[arg-type]
    return study


# -- from draft to unblinding ----------------------------------------------------------------------


def test_each_change_of_status_is_possible_from_where_it_makes_sense_and_on_record(house: House) -> None:
    studies, study = house.studies, house.draft()
    for step in (studies.pause, studies.lock):
        with pytest.raises(BadStudy, match="The study is draft; from there it can become open"):
            step(study, OWNER)
    sha256 = studies.open(study, OWNER)
    assert sha256 == studies.study(study).sha256 == protocol_hash(USUAL)
    studies.pause(study, OWNER, "a question came up")
    studies.open(study, "Otto")
    studies.lock(study, OWNER)
    for refused in (studies.open, studies.pause, studies.lock):
        with pytest.raises(BadStudy, match="The study is locked"):
            refused(study, OWNER)
    with pytest.raises(BadStudy, match="Say why"):
        studies.unblind(study, OWNER, " ")
    unblinding = studies.unblind(study, OWNER, "complete")
    assert re.fullmatch("[0-9a-f]{64}", unblinding.votes_sha256)
    with pytest.raises(BadStudy, match="nothing else"):
        studies.unblind(study, OWNER, "again")
    said = [(event.kind, event.actor) for event in studies.events(study)]
    assert said == [
        ("made", OWNER), ("items added", OWNER), ("opened", OWNER), ("paused", OWNER), ("resumed", "Otto"),
        ("locked", OWNER), ("unblinded", OWNER),
    ]  # fmt: skip
    assert studies.events(study)[3].detail == {"why": "a question came up"}


def test_what_was_opened_is_frozen(house: House) -> None:
    study = house.open()
    with pytest.raises(BadStudy, match="frozen"):
        house.studies.set_protocol(study, replace(USUAL, target=9), OWNER)
    with pytest.raises(BadStudy, match="draft only"):
        house.studies.add(study, entries(9), OWNER)
    with pytest.raises(UnknownStudy):
        house.studies.study("nothing")


def test_the_hash_of_the_votes_tells_whether_they_are_still_the_same(house: House) -> None:
    def unblinded(choice: str) -> str:
        study = house.open(StudyProtocol(target=1), entries(2))
        (token,) = house.raters(study, 1)
        house.rate(token, lambda view: choice)  # type: ignore[arg-type,return-value]
        house.studies.lock(study, OWNER)
        return house.studies.unblind(study, OWNER, "done").votes_sha256

    assert len({unblinded("left"), unblinded("right")}) == 2


@pytest.mark.parametrize(
    ("protocol", "items", "words"),
    [
        (USUAL, [Entry("1", "p", (("sys", "same"), ("tem", "same ")))], "no item has different texts"),
        (StudyProtocol(pairs=(("zeta-q4", "nobody"),)), entries(), "a system 'nobody'"),
        (
            StudyProtocol(question="Is Zeta Q4 better?"),
            entries(),
            "question, and it holds the name 'zeta-q4'",
        ),
        (StudyProtocol(criteria=("more like ZetaCorp",), aliases=("ZetaCorp",)), entries(), "criteria, and"),
        (StudyProtocol(completion_code="OMEGA-F16"), entries(), "completion_code, and"),
    ],
)
def test_a_draft_that_can_not_be_asked_is_not_opened(
    house: House, protocol: StudyProtocol, items: list[Entry], words: str
) -> None:
    study = house.draft(protocol, items)
    with pytest.raises(BadStudy, match=words):
        house.studies.open(study, OWNER)
    assert house.studies.study(study).status == "draft"


def test_an_import_is_whole_or_nothing_and_the_same_once_more_is_nothing_new(house: House) -> None:
    study = house.draft()
    added = house.studies.add(study, entries(6), OWNER)
    assert (added.new, added.repeated) == (2, 4)
    changed = [*entries(8)[6:], replace(entries(1)[0], prompt="Another.")]
    with pytest.raises(BadStudy, match="'key-0' is in the study already"):
        house.studies.add(study, changed, OWNER)
    assert len(house.studies.contents(study).items) == 6


def test_identical_texts_are_not_asked_but_counted(house: House) -> None:
    same = Entry("same", "p", (("zeta-q4", "The same."), ("omega-f16", "The same. \n")))
    study = house.open(StudyProtocol(target=1), [*entries(2), same])
    (token,) = house.raters(study, 1)
    house.rate(token, lambda view: "left")
    found = monitor(house.store, study)
    assert (found.votes, found.wanted, found.coverage.identical, found.coverage.full) == (2, 2, 1, 2)


# -- names in the texts -------------------------------------------------------------------------------


def leaky(house: House) -> str:
    texts = (("zeta-q4", "As an assistant made by ZetaCorp I say yes."), ("omega-f16", "No."))
    prompts = Entry("p", "What is Zeta Q4?", (("zeta-q4", "This."), ("omega-f16", "That.")))
    return house.draft(
        StudyProtocol(target=1, aliases=("ZetaCorp",)), [*entries(2), Entry("t", "q", texts), prompts]
    )


def test_names_wait_for_the_owner_and_every_decision_is_kept(house: House) -> None:
    study = leaky(house)
    in_text, in_prompt = sorted(house.studies.leaks(study), key=lambda leak: leak.where == "prompt")
    assert (in_text.alias, in_text.item, in_text.decision) == ("ZetaCorp", "t", "open")
    assert (in_prompt.alias, in_prompt.where) == ("zeta-q4", "prompt")
    with pytest.raises(BadStudy, match="In 2 texts stands a name"):
        house.studies.open(study, OWNER)
    house.studies.decide_leak(study, in_text.id, "redact", OWNER)
    house.studies.decide_leak(study, in_prompt.id, "drop", OWNER)
    with pytest.raises(BadStudy, match="decided before: redact"):
        house.studies.decide_leak(study, in_text.id, "keep", OWNER)
    contents = house.studies.contents(study)
    (changed,) = [output for output in contents.outputs if output.original]
    assert changed.text == "As an assistant made by […] I say yes."
    assert changed.original == "As an assistant made by ZetaCorp I say yes."
    assert [item.key for item in contents.items if item.dropped] == ["p"]
    assert house.studies.scan(study) == house.studies.leaks(study)
    house.studies.open(study, OWNER)
    assert monitor(house.store, study).coverage.pairings == 3
    decided = [
        event.detail["decision"] for event in house.studies.events(study) if "decision" in event.detail
    ]
    assert decided == ["redact", "drop"]
    added = house.studies.contents(study)
    assert {leak.decision for leak in added.leaks} == {"redact", "drop"}


def test_a_redacted_item_is_still_the_one_that_was_imported(house: House) -> None:
    study = leaky(house)
    for leak in house.studies.leaks(study):
        house.studies.decide_leak(study, leak.id, "redact", OWNER)
    texts = (("zeta-q4", "As an assistant made by ZetaCorp I say yes."), ("omega-f16", "No."))
    assert house.studies.add(study, [Entry("t", "q", texts)], OWNER).repeated == 1


def test_new_aliases_are_looked_for_in_old_texts(house: House) -> None:
    study = house.draft()
    assert house.studies.leaks(study) == ()
    house.studies.set_protocol(study, replace(USUAL, aliases=("river",)), OWNER)
    assert [leak.alias for leak in house.studies.scan(study)] == ["river"] * 4
    house.studies.set_protocol(study, USUAL, OWNER)
    assert house.studies.scan(study) == ()


def test_votes_on_texts_that_kept_a_name_can_be_told_apart(house: House) -> None:
    study = leaky(house)
    for leak in house.studies.leaks(study):
        house.studies.decide_leak(study, leak.id, "keep", OWNER)
    house.studies.open(study, OWNER)
    (token,) = house.raters(study, 1)
    house.rate(token, lambda view: "left")
    house.studies.lock(study, OWNER)
    found = report_of(results(house.store, study))
    assert found.everything.counts.votes == 4 and found.kept.counts.votes == 2
    assert dict(found.everything.counts.excluded) == {"a name was kept": 2}


# -- nothing that tells --------------------------------------------------------------------------------


def every_view(house: House, token: str) -> list[RaterView]:
    views = [house.rating.view(token), house.rating.consent(token)]
    while views[-1].state == "pair" and views[-1].pair:
        views.append(house.rating.vote(token, views[-1].pair.token, ballot("left")))
        if len(views) == 5:
            views.append(house.rating.undo(token, "undo-0001"))
    return [*views, house.rating.close(token, "left", "no")]


def test_what_a_rater_sees_holds_no_name_no_key_and_no_order(house: House) -> None:
    protocol = StudyProtocol(
        consent="I agree.", target=1, closing_question="Which came second?", closing_system="omega-f16",
        pairs=(("zeta-q4", "omega-f16"),), aliases=("ZetaCorp",), gold_share=0.2,
    )  # fmt: skip
    gold = Entry(
        "key-gold",
        "q",
        (("zeta-q4", "Yes."), ("omega-f16", "No.")),
        "stratum-x",
        "gold",
        "zeta-q4",
        "source-x",
    )
    study = house.open(protocol, [*entries(8), gold])
    systems = house.studies.contents(study).systems
    views = every_view(house, house.raters(study, 1)[0])
    assert [view.state for view in views].count("pair") >= 9 and views[-1].state == "done"
    sent = json.dumps([asdict(view) for view in views]).lower()
    secrets = [
        "zeta",
        "omega",
        "key-",
        "gold",
        "stratum",
        "source-x",
        "system",
        "zetacorp",
        study,
        "r001",
        "olga",
    ]
    secrets += [system.mask.lower() for system in systems]
    assert [word for word in secrets if word in sent] == []
    tokens = [view.pair.token for view in views if view.pair]
    assert all(re.fullmatch(r"[\w-]{22}", token) for token in tokens)
    assert tokens != sorted(tokens)


def test_a_view_has_these_fields_and_no_others() -> None:
    assert [field.name for field in fields(PairView)] == ["token", "prompt", "left", "right", "practice"]
    assert [field.name for field in fields(Progress)] == ["done", "of"]
    assert [field.name for field in fields(RaterView)] == [
        "state", "message", "instructions", "consent", "question", "criteria", "choices", "ask_strength",
        "ask_reason", "progress", "pair", "can_undo", "completion_code", "return_url",
    ]  # fmt: skip


def test_masks_are_drawn_anew_for_each_study(house: House) -> None:
    drawn = {tuple(system.mask for system in house.studies.contents(house.open()).systems) for _ in range(20)}
    assert drawn == {("System A", "System B"), ("System B", "System A")}


def test_the_monitor_tells_how_it_goes_and_never_who_wins(house: House) -> None:
    def seen(taste: str) -> str:
        study = house.open(StudyProtocol(target=3, gold_share=0.1), entries(6))
        for token in house.raters(study, 3):
            house.rate(token, lambda view: "left" if taste in view.pair.left else "right")  # type: ignore[union-attr]
        found = monitor(house.store, study)
        assert (found.votes, found.wanted, found.coverage.full, found.decided) == (18, 18, 6, 18)
        assert [rater.answers.votes for rater in found.raters if rater.answers] == [6, 6, 6]
        return as_json(replace(found, study="", name=""))

    rivers, meadows = seen("river"), seen("meadow")
    assert not re.search("zeta|omega|System [AB]", rivers)
    # Everything but how often left was chosen is the same, whoever wins.
    neutral = [re.sub(r'"(left|seconds)": [0-9.]+', "", found) for found in (rivers, meadows)]
    assert neutral[0] == neutral[1]


def test_pace_says_when_it_will_be_ready(house: House) -> None:
    study = house.open(StudyProtocol(target=4), entries(5))
    (token,) = house.raters(study, 1)
    assert isinstance(monitor(house.store, study).pace.ready_at, Undefined)
    for _ in range(5):
        house.rate(token, lambda view: "left", 1)
        house.clock.move(12)
    found = monitor(house.store, study)
    assert (found.pace.last_hour, found.votes, found.wanted) == (5, 5, 20)
    assert not isinstance(found.pace.ready_at, Undefined)
    assert (found.pace.ready_at - house.clock()).total_seconds() == pytest.approx(3 * 3600)


# -- results -------------------------------------------------------------------------------------------


def test_before_the_lock_there_are_no_results(house: House) -> None:
    study = voted(house)
    for form in ("csv", "jsonl", "fastchat", "preferences", "report"):
        with pytest.raises(BadStudy, match="once it is locked"):
            export(house.store, study, form)
    assert json.loads(export(house.store, study, "protocol").text)["frozen"] is True


def test_between_lock_and_unblinding_nothing_names_a_system_or_a_text(house: House) -> None:
    study = voted(house)
    house.studies.lock(study, OWNER)
    forms: tuple[ExportForm, ...] = ("csv", "jsonl", "fastchat", "report")
    for form in forms:
        made = export(house.store, study, form).text
        assert "System A" in made and not re.search("zeta|omega|key-|river|chars_|sha256_", made)
    with pytest.raises(BadStudy, match="after the unblinding"):
        export(house.store, study, "preferences")


def test_the_report_and_the_files_say_what_was_voted(house: House) -> None:
    study = voted(house)
    house.studies.lock(study, OWNER)
    house.studies.unblind(study, OWNER, "complete")
    found = report_of(results(house.store, study))
    (pair,) = found.kept.preferences
    assert (pair.first, pair.second) == ("omega-f16", "zeta-q4") and not found.masked
    assert (pair.wins, pair.losses) == (0, 18)
    rows = [json.loads(line) for line in export(house.store, study, "jsonl").text.splitlines()]
    assert len(rows) == 18 and {row["winner"] for row in rows} == {"zeta-q4"}
    sides = Counter(row["system_left"] for row in rows)
    assert sides == {"zeta-q4": 9, "omega-f16": 9}
    assert all((row["choice"] == "left") == (row["system_left"] == "zeta-q4") for row in rows)
    battles = [json.loads(line) for line in export(house.store, study, "fastchat").text.splitlines()]
    assert all(battle[battle["winner"]] == "zeta-q4" for battle in battles)
    report = json.loads(export(house.store, study, "report").text, parse_constant=pytest.fail)
    assert report["unblinding"]["reason"] == "complete" and "zeta-q4" in report["summary"][1]


def test_a_spreadsheet_gets_no_formula_from_a_rater(house: House) -> None:
    study = house.open(StudyProtocol(target=1, ask_reason=True), entries(1))
    (token,) = house.raters(study, 1)
    pair = house.rating.view(token).pair
    assert pair
    house.rating.vote(token, pair.token, ballot("left", reason='=HYPERLINK("http://x","y"),\n2'))
    house.studies.lock(study, OWNER)
    assert '"\'=HYPERLINK(""http://x"",""y""),\n2"' in export(house.store, study, "csv").text


def test_preference_rows_leave_out_what_teaches_nothing_and_say_so(house: House) -> None:
    cut = Entry("cut", "p", (("zeta-q4", "A river:\n```\ncode"), ("omega-f16", "A meadow.")))
    study = house.open(StudyProtocol(target=2), [*entries(4), cut])
    tastes = {"1": ("left", "right"), "2": ("tie", "skip"), "3": ("tie", "tie")}
    for number, token in enumerate(house.raters(study, 2)):
        view = house.rating.view(token)
        while view.pair:
            choices = next((tastes[n] for n in tastes if view.pair.prompt.endswith(f"{n}.")), None)
            likes = ("left" if "river" in view.pair.left else "right") if not choices else choices[number]
            if choices and choices[0] == "left":  # the raters disagree about the text, not about the side
                likes = "left" if ("river" in view.pair.left) == (number == 0) else "right"
            view = house.rating.vote(token, view.pair.token, ballot(likes))  # type: ignore[arg-type]
    house.studies.lock(study, OWNER)
    house.studies.unblind(study, OWNER, "complete")
    made = export(house.store, study, "preferences")
    (row,) = [json.loads(line) for line in made.text.splitlines()]
    assert row == {
        "prompt": "Describe place 0.",
        "chosen": "A river by the road, number 0.",
        "rejected": "A meadow by the road, number 0.",
    }
    assert made.notes == (
        "1 rows of 5 judged pairings.",
        "2 left out: no vote for one side.",
        "1 left out: raters disagree.",
        "1 left out: the preferred text is flagged (cut off).",
    )


def test_rules_mark_and_owners_mark_and_nothing_is_deleted(house: House) -> None:
    rules = (
        Exclusion("too_fast", 1.0),
        Exclusion("one_sided", 0.8),
        Exclusion("gold", 0.5),
        Exclusion("unfinished", 5),
    )
    study = house.open(StudyProtocol(target=3, exclusions=rules), entries(12))
    sided, fair, quick = house.raters(study, 3)
    house.rate(sided, lambda view: "left")
    house.rate(fair, river)  # type: ignore[arg-type]
    pair = house.rating.view(quick).pair
    assert pair
    house.rating.vote(quick, pair.token, ballot("left", active_ms=300))
    checks = {
        (check.rater, check.rule): check.verdict for check in monitor(house.store, study).quality.checks
    }
    assert checks["R001", "one_sided"] == "fail" and checks["R002", "one_sided"] == "pass"
    assert checks["R003", "one_sided"] == "unknown" and checks["R001", "gold"] == "unknown"
    assert checks["R003", "unfinished"] == "fail"
    mark = house.studies.exclude(study, "rater", 2, "asked to be left out", OWNER)
    house.studies.lock(study, OWNER)
    counts = report_of(results(house.store, study)).everything.counts
    assert dict(counts.excluded) == {"one_sided": 12, "owner": 12, "too_fast": 1, "unfinished": 1}
    assert counts.votes == 25 and report_of(results(house.store, study)).kept.counts.votes == 0
    house.studies.readmit(study, mark, OWNER)
    assert report_of(results(house.store, study)).kept.counts.votes == 12
    (kept,) = house.studies.marks(study)
    assert kept.lifted_at is not None and kept.why == "asked to be left out"


def test_what_raters_guessed_is_held_against_the_truth(house: House) -> None:
    protocol = StudyProtocol(target=3, closing_question="Which came second?", closing_system="omega-f16")
    study = house.open(protocol, entries(2))
    for token, guess in zip(house.raters(study, 3), ("right one", "wrong one", "unsure"), strict=True):
        view = house.rate(token, river)  # type: ignore[arg-type]
        assert view.pair
        meadow = "left" if "meadow" in view.pair.left else "right"
        other = "right" if meadow == "left" else "left"
        house.rating.close(token, {"right one": meadow, "wrong one": other}.get(guess, guess))
    house.studies.lock(study, OWNER)
    found = report_of(results(house.store, study)).blinding
    assert (found.right, found.wrong, found.unsure) == (1, 1, 1)


@pytest.mark.parametrize("choice", ["skip", "tie", "both_bad", "left"])
def test_studies_in_which_nothing_can_be_told_say_why(house: House, choice: str) -> None:
    study = house.open(StudyProtocol(target=2, draws=50), entries(3))
    for token in house.raters(study, 2):
        house.rate(token, lambda view: choice)  # type: ignore[arg-type,return-value]
    house.studies.lock(study, OWNER)
    house.studies.unblind(study, OWNER, "complete")
    for form in ("report", "csv", "jsonl", "fastchat", "preferences"):
        made = export(house.store, study, form).text
        assert not re.search(r"\b(nan|inf|infinity)\b", made, re.I)
    assert "undefined" in export(house.store, study, "report").text


# -- votes from elsewhere ----------------------------------------------------------------------------


def foreign(rater: str, item: str, choice: str, row: int, **more: str) -> ForeignVote:
    return ForeignVote(f"line {row}", rater, item, "m1", "m2", choice, **more)  # type: ignore[arg-type]


def test_votes_from_elsewhere_get_the_same_report(house: House) -> None:
    study = house.studies.new("Arena", USUAL, OWNER)
    votes = [foreign(f"r{n % 5}", f"i{n // 5}", "left" if n % 3 else "right", n) for n in range(30)]
    votes.append(replace(votes[0], choice="tie", row="line 31"))  # asked again
    votes.append(votes[1])
    added = house.studies.add_votes(study, votes, OWNER)
    assert (added.new, added.repeated) == (31, 1)
    again = house.studies.add_votes(study, votes, OWNER)
    assert (again.new, again.repeated) == (0, 32)
    with pytest.raises(BadStudy, match="from there it can become locked"):
        house.studies.open(study, OWNER)
    house.studies.lock(study, OWNER)
    house.studies.unblind(study, OWNER, "published already")
    figures = report_of(results(house.store, study)).kept
    (pair,) = figures.preferences
    assert (pair.first, pair.wins, pair.losses, figures.counts.retests) == ("m1", 20, 10, 1)
    assert figures.side_effect is not None and figures.counts.raters == 5


def test_a_bad_vote_from_elsewhere_leaves_the_study_as_it_was(house: House) -> None:
    study = house.studies.new("Arena", USUAL, OWNER)
    good = foreign("r", "i", "left", 1, text_left="one", text_right="two")
    for bad, words in (
        (replace(good, row="line 2", text_left="other"), "line 2 has another text of 'm1'"),
        (replace(good, row="line 2", system_right="m1 "), "two different systems"),
        (replace(good, row="line 2", rater=" "), "needs a rater"),
    ):
        with pytest.raises(BadStudy, match=words):
            house.studies.add_votes(study, [good, bad], OWNER)
    assert house.studies.contents(study).items == () and not house.studies.study(study).elsewhere
    asked = house.draft()
    with pytest.raises(BadStudy, match="a study of their own"):
        house.studies.add_votes(asked, [good], OWNER)
    assert Counter(item.kind for item in house.studies.contents(asked).items) == {"item": 4}
