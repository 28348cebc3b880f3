"""The report as a whole: hand counts, what was put in comes out, and nothing is claimed that is not shown."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np
import pytest
from pydantic import TypeAdapter

from core.studies.figures import Estimate, Interval, Undefined
from core.studies.fragility import Fragility
from core.studies.guesses import Guess
from core.studies.logit import LengthAdjusted, SideEffect
from core.studies.proportions import Share
from core.studies.report import Report, Rules, report
from core.studies.summary import summary, verdict
from core.studies.votes import Choice, Vote, tabulate
from tests.study_votes import ballots, simulated

QUICK = Rules(draws=100)
NONE = [
    pytest.param([], (), id="zero votes"),
    pytest.param([], ("A", "B"), id="zero votes of two systems"),
    pytest.param(ballots("A", "B", "S/S/S"), (), id="all skipped"),
    pytest.param(ballots("A", "B", "TT/TB/TT"), (), id="all ties"),
    pytest.param(ballots("A", "B", "WWLWT"), (), id="one rater"),
    pytest.param(ballots("A", "B", "W"), (), id="one vote"),
    pytest.param(ballots("A", "B", "WWWWW/WWWWW"), (), id="unanimous"),
    pytest.param(ballots("A", "B", "WL/LW/WL"), (), id="every rater halves"),
    pytest.param(ballots("A", "B", "WW/LL", kind="gold"), (), id="gold only"),
    pytest.param(ballots("A", "B", "WW/LL", excluded=("too fast",)), (), id="all excluded"),
    pytest.param([*ballots("A", "B", "WWW/WWW"), *ballots("B", "C", "WWL/WLW")], (), id="unbeaten"),
    pytest.param([*ballots("A", "B", "WLW"), *ballots("E", "F", "WLL")], ("A", "D"), id="islands"),
]


def values(figure: object) -> Iterator[object]:
    """Everything inside a figure."""
    if dataclasses.is_dataclass(figure):
        for field in dataclasses.fields(figure):
            yield from values(getattr(figure, field.name))
    elif isinstance(figure, tuple):
        for part in figure:
            yield from values(part)
    else:
        yield figure


@pytest.mark.parametrize(("votes", "systems"), NONE)
def test_what_is_undefined_says_why_and_nothing_else(votes: list[Vote], systems: tuple[str, ...]) -> None:
    found = report(votes, QUICK, systems=systems)
    for value in values(found):
        assert type(value) in (int, str, bool) or (isinstance(value, float) and math.isfinite(value)), value
    said = " ".join(summary(found))
    assert "nan" not in said.lower() and "inf " not in said
    kind = TypeAdapter(Report)
    assert kind.validate_json(kind.dump_json(found)) == found


def test_unbeaten_and_without_votes() -> None:
    votes = [
        *ballots("A", "B", "WWW"),
        *ballots("B", "C", "WWL"),
        *ballots("E", "F", "W"),
    ]
    ranking = report(votes, QUICK, systems="ABCDEF").kept.ranking
    notes = {standing.system: standing.note for standing in ranking.standings}
    assert notes == {"A": "unbeaten", "B": "", "C": "", "D": "no votes", "E": "unbeaten", "F": "never won"}
    assert ranking.davidson == Undefined("A, B and C; E and F were never compared with each other")
    best = ranking.standings[0]
    assert (best.share, best.wins) == (1.0, 3)
    assert isinstance(best.interval, Interval)


def test_four_wins_two_losses_four_ties() -> None:
    one = report(ballots("A", "B", "WWWWLLTTTT"), QUICK).kept.preferences[0]
    assert (one.wins, one.losses, one.ties) == (4, 2, 4)
    assert isinstance(one.half, Share) and isinstance(one.dropped, Share)
    assert (one.half.value, one.half.votes) == (0.6, 10)
    assert (round(one.half.wilson.low, 3), round(one.half.wilson.high, 3)) == (0.313, 0.832)
    assert (round(one.dropped.wilson.low, 3), round(one.dropped.wilson.high, 3)) == (0.300, 0.903)
    assert one.sign_p == pytest.approx(0.6875)


def test_unanimous_raters_agree_and_no_coefficient_is_made_up() -> None:
    found = report(ballots("A", "B", "WWWWW/WWWWW"), QUICK).kept
    assert found.agreement.raw == 1.0
    assert isinstance(found.agreement.alpha, Undefined)
    assert isinstance(found.agreement.ac1, Undefined)
    assert isinstance(found.preferences[0].dropped, Share)
    assert isinstance(found.preferences[0].dropped.clustered, Undefined)
    assert "can't be told" in " ".join(summary(report(ballots("A", "B", "WWWWW/WWWWW"), QUICK)))


def test_a_known_preference_and_side_bias_are_found_again() -> None:
    found = report(simulated(30, 40, 0.5, 0.4, ties=0.1), QUICK).kept
    side = found.side_effect
    assert isinstance(side, SideEffect)
    assert isinstance(side.clustered, Estimate) and isinstance(side.clustered.interval, Interval)
    assert 0.4 in side.clustered.interval and 0.0 not in side.clustered.interval
    assert isinstance(side.preference, Estimate) and isinstance(side.preference.interval, Interval)
    assert 0.5 in side.preference.interval and 0.0 not in side.preference.interval
    assert verdict(found.preferences[0]) == "X"
    assert found.sides.largest_difference == 0
    assert found.sides.largest_difference_of_a_rater == 0


def test_the_side_can_be_told_from_three_systems_too() -> None:
    votes = [
        *simulated(30, 30, 0.4, 0.5, seed=1),
        *ballots("Y", "Z", "WLWLWLWL"),
        *ballots("Z", "X", "WLLWWL"),
    ]
    side = report(votes, QUICK).kept.side_effect
    assert isinstance(side, SideEffect)
    assert isinstance(side.clustered, Estimate) and isinstance(side.clustered.interval, Interval)
    assert 0.5 in side.clustered.interval
    assert isinstance(side.preference, Undefined)


def test_a_side_that_never_changes_or_always_wins_has_no_effect_to_tell() -> None:
    fixed = [Vote(f"r{n}", "i", "A", "B", "left" if n % 3 else "right") for n in range(20)]
    always = [Vote(f"r{n}", "i", "AB"[n % 2], "BA"[n % 2], "left") for n in range(20)]
    for votes, why in ((fixed, "always went together"), (always, "no limit")):
        side = report(votes, QUICK).kept.side_effect
        assert isinstance(side, SideEffect)
        assert isinstance(side.effect, Undefined)
        assert why in side.effect.why


def test_a_preference_for_length_is_taken_out() -> None:
    rng = np.random.default_rng(6)
    votes = []
    for vote in simulated(20, 30, 0.0, 0.0):
        x, y = (int(length) for length in 200 * np.exp(rng.normal([0.3, 0.0], 0.3)))
        prefers_x = rng.random() < 1 / (1 + np.exp(-2 * np.log(x / y)))
        x_left = vote.system_left == "X"
        choice: Choice = "left" if prefers_x == x_left else "right"
        left, right = (x, y) if x_left else (y, x)
        votes.append(dataclasses.replace(vote, left_chars=left, right_chars=right, choice=choice))
    found = report(votes, QUICK).kept
    length = found.length
    assert isinstance(length, LengthAdjusted)
    assert isinstance(length.length.interval, Interval) and length.length.interval.low > 0
    assert verdict(found.preferences[0]) == "X"
    assert isinstance(length.share, Interval) and 0.5 in length.share
    assert length.worths[0].unadjusted > 0.2 > abs(length.worths[0].adjusted.value)


def test_exclusions_are_marks_and_both_sides_are_told() -> None:
    marked = ballots("A", "B", "LLLLLLLL/LLLLLLLL", "fast ", excluded=("too fast", "gold failed"))
    kept = ballots("A", "B", "WWLWWWLW/WWWWWLWW/WWLWWWWW/WWWLWWWW")
    found = report([*kept, *marked], QUICK)
    assert (found.everything.counts.votes, found.kept.counts.votes) == (48, 32)
    assert found.everything.counts.excluded == (("gold failed", 16), ("too fast", 16))
    assert (found.kept.preferences[0].wins, found.everything.preferences[0].losses) == (27, 21)
    assert "16 votes left out by the exclusion rules; with them the conclusion differs" in summary(found)[-1]


def test_labels_stay_masked_until_the_names_are_given() -> None:
    votes = simulated(6, 10, 0.5, 0.0)
    masked = report(votes, QUICK)
    assert masked.masked and masked.systems == ("X", "Y")
    named = report(votes, QUICK, names={"X": "zeta", "Y": "alpha"})
    assert not named.masked and named.systems == ("zeta", "alpha")
    assert "zeta" in " ".join(summary(named)) and "X" not in " ".join(summary(named))
    assert named.kept.preferences[0].dropped == masked.kept.preferences[0].dropped


def test_strata_are_corrected_together() -> None:
    found = report(simulated(20, 20, 0.5, 0.0, seed=3), QUICK)
    assert [stratum.name for stratum in found.kept_strata] == ["a", "b"]
    plain = sorted(float(s.preferences[0].sign_p) for s in found.kept_strata)  # type: ignore[arg-type]
    holm = sorted(float(s.preferences[0].sign_p_holm) for s in found.kept_strata)  # type: ignore[arg-type]
    assert holm == pytest.approx([min(1, 2 * plain[0]), max(2 * plain[0], plain[1])])
    assert sum(s.counts.votes for s in found.kept_strata) == 400


def test_retests_gold_and_skips_stand_apart() -> None:
    first = ballots("A", "B", "WWLTS")
    again = [dataclasses.replace(vote, retest=1) for vote in ballots("A", "B", "WLLWW")]
    answers: tuple[Choice, ...] = ("right", "left", "left", "left", "left")
    turned = [
        dataclasses.replace(v, system_left=v.system_right, system_right=v.system_left, choice=c)
        for v, c in zip(again, answers, strict=True)
    ]
    practice = ballots("A", "B", "WW", kind="practice")
    found = report([*first, *turned, *practice], QUICK).kept
    assert (found.counts.votes, found.counts.decided, found.counts.skipped) == (4, 3, 1)
    assert (found.counts.retests, found.counts.other_kinds, found.counts.repeated) == (5, 2, 0)
    assert (found.retests.same, found.retests.asked) == (3, 4)


def test_retests_are_held_against_their_own_first_showing() -> None:
    first = ballots("A", "B", "WL/LT/TW")
    again = [dataclasses.replace(vote, retest=1) for vote in reversed(ballots("A", "B", "WL/LT/WW"))]
    found = report([*again, *first], QUICK).kept.retests
    assert (found.same, found.asked) == (5, 6)


def test_strength_makes_an_ordinal_agreement() -> None:
    strong = [
        dataclasses.replace(v, strength=1 + n % 2) for n, v in enumerate(ballots("A", "B", "WWLT/WLLT/WWLL"))
    ]
    assert not isinstance(report(strong, QUICK).kept.agreement.ordinal, Undefined)
    assert isinstance(report(ballots("A", "B", "WL/WL"), QUICK).kept.agreement.ordinal, Undefined)


def test_both_bad_is_a_tie_or_no_vote_as_the_rules_say() -> None:
    votes = ballots("A", "B", "WWLB/WLBB")
    tied, dropped = (report(votes, Rules(draws=10, both_bad=how)).kept for how in ("tie", "dropped"))
    assert isinstance(tied.preferences[0].half, Share) and isinstance(dropped.preferences[0].half, Share)
    assert (tied.preferences[0].half.votes, dropped.preferences[0].half.votes) == (8, 5)
    assert (tied.preferences[0].half.value, dropped.preferences[0].half.value) == (4.5 / 8, 3 / 5)


def test_fragility() -> None:
    found = report(ballots("A", "B", "WWWWWW/WWWWWW/WWLLLL/LLLLLW"), QUICK).kept.fragility
    assert isinstance(found, Fragility)
    assert (found.leader, found.votes_to_turn, found.raters_to_turn) == ("A", 4, 2)
    assert isinstance(found.votes_to_blur, Undefined)
    clear = report(ballots("A", "B", "W" * 20 + "L" * 4), QUICK).kept.fragility
    assert isinstance(clear, Fragility)
    assert (clear.votes_to_turn, clear.votes_to_blur) == (9, 3)  # 18 to 6 has p .023, 17 to 7 .064


def test_fragility_of_several_is_that_of_the_two_best() -> None:
    votes = [*ballots("A", "B", "WWWWWL"), *ballots("B", "C", "WWWL"), *ballots("A", "C", "WWWL")]
    found = report(votes, QUICK).kept.fragility
    assert isinstance(found, Fragility)
    assert (found.leader, found.runner_up) == ("A", "B")
    assert found.votes_to_turn == 3


def test_the_summary_does_not_overclaim() -> None:
    parts = ["WWWWWWWWWW", "WWWWWWWWWW", "WWWWWWWWLL", "WWWWWWWWLL", "WWWWWWWLLL"]
    parts += ["WWWWWWLLLL", "WWWWLLLLLL", "WWWWLLLLLL", "WWLLLLLLLL", "WLLLLLLLLL"]
    said = summary(report(ballots("X", "Y", "/".join(parts)), QUICK))
    assert said[1].startswith(
        "60 of 100 non-tied votes preferred X to Y (60.0 %, 95 % interval 50.2 to 69.1 %"
    )
    assert said[2].endswith("which includes one half: no preference is shown.")
    assert any("p = 0.057" in sentence for sentence in said)
    assert any("that none is shown does not mean that there is none" in sentence for sentence in said)
    turned = summary(report(ballots("Y", "X", "/".join(parts)), QUICK, names={"X": "Z", "Y": "A"}))
    assert "preferred A to Z (60.0 %, 95 % interval 50.2 to 69.1 %" in turned[1]
    second = summary(report(ballots("Z", "A", "/".join(parts)), QUICK))
    assert "preferred Z to A (60.0 %, 95 % interval 50.2 to 69.1 %" in second[1]
    assert second[2] == said[2]
    shown = summary(report(simulated(30, 40, 0.8, 0.0), QUICK))
    assert shown[2].endswith("which lies above one half: a preference for X is shown.")


def test_the_blinding_is_told() -> None:
    found = report(
        simulated(4, 6, 0.2, 0.0),
        QUICK,
        guesses=[Guess("r0", "right"), Guess("r0", "wrong"), Guess("r1", "unsure")],
    )
    assert (found.blinding.right, found.blinding.wrong, found.blinding.unsure) == (0, 1, 1)
    assert "0 of 2 raters guessed right" in " ".join(summary(found))


def test_what_is_no_vote_is_refused() -> None:
    with pytest.raises(ValueError, match="no choice"):
        tabulate([Vote("r", "i", "A", "B", "A")])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="against itself"):
        tabulate([Vote("r", "i", "A", "A", "left")])


def test_rater_rows() -> None:
    votes = [
        dataclasses.replace(vote, active_ms=1000 * (n + 1))
        for n, vote in enumerate(ballots("A", "B", "WLTS/WW"))
    ]
    first, second = report(votes, QUICK).kept.raters
    assert (first.votes, first.decided, first.left, first.ties, first.skipped) == (3, 2, 2, 1, 1)
    assert (first.seconds, second.seconds) == (2.5, 5.5)


def test_exclusions_that_change_the_best_of_several_are_told() -> None:
    kept = [
        *ballots("A", "B", "WWL/WLW/WWW"),
        *ballots("A", "C", "WWL/WWL/WWL"),
        *ballots("B", "C", "WL/WW/LW"),
    ]
    marked = ballots("B", "A", "WWWWWWWWWWWWWWWWWWWWWWWWW", "odd ", excluded=("too fast",))
    assert "the conclusion differs" in summary(report([*kept, *marked], QUICK))[-1]
    harmless = ballots("A", "B", "WL", "odd ", excluded=("too fast",))
    said = summary(report([*kept, *harmless], Rules(draws=0)))
    assert "the conclusion is the same" in said[-1]
    assert said[-2] == "The systems' names are still masked."
