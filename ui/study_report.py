"""A study's report for its page, and the same as one file that needs nothing else. Computes no figure."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.studies.report import Report
from core.studies.results import Results, report_of
from core.studies.summary import summary
from ui.study_figures import Table, named
from ui.study_plots import Plot, plots
from ui.study_tables import tables

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1917; max-width: 62rem; margin: 2rem auto; }
body { padding: 0 1rem; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
table { border-collapse: collapse; font-size: .87rem; }
th, td { border-bottom: 1px solid #d6d3d1; padding: .25rem .6rem .25rem 0; text-align: left; }
th, td { vertical-align: top; }
figure { margin: 1rem 0; }
svg { max-width: 100%; height: auto; }
p.note, dt { color: #57534e; font-size: .87rem; margin: .2rem 0; }
.wide { overflow-x: auto; }
dd { overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class Section:
    """The tables and plots of one set of votes."""

    title: str
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...]


@dataclass(frozen=True)
class Told:
    """A report as it is told: what it is of, its sentences, its sections."""

    name: str
    facts: tuple[tuple[str, str], ...]
    summary: tuple[str, ...]
    sections: tuple[Section, ...]


def told(found: Results) -> Told:
    """The whole report; the section of all votes stands there only where some were left out."""
    report = report_of(found)
    kept = Section("Votes that count", _tables(found, report), _plots(found, report, all_votes=False))
    left_out = report.everything is not report.kept
    every = tables(report.everything, report.all_strata) if left_out else ()
    sections = [kept]
    if left_out:
        title = "All votes, those left out by the exclusion rules too"
        sections.append(Section(title, every, _plots(found, report, all_votes=True)))
    return Told(found.study.name, _facts(found), summary(report), tuple(sections))


def _tables(found: Results, report: Report) -> tuple[Table, ...]:
    return (_flow(found), *tables(report.kept, report.kept_strata), _closing(report))


def _flow(found: Results) -> Table:
    """How far raters came."""
    voted = {row.rater.id for row in found.rows}
    out = {row.rater.id for row in found.rows if row.vote.assignment in found.excluded}
    rows = named(
        ("Raters invited or joined", len(found.raters)),
        ("agreed to take part", sum(rater.consent_at is not None for rater in found.raters)),
        ("answered", len(voted)),
        ("answered the closing question", sum(rater.closing is not None for rater in found.raters)),
        ("had an answer left out", len(out)),
        ("Items", sum(item.kind == "item" and not item.dropped for item in found.contents.items)),
        ("dropped", sum(item.dropped for item in found.contents.items)),
        ("Pairings with identical texts, not asked", sum(p.identical for p in found.contents.pairings)),
    )
    return Table("Participant flow", ("", "Number"), rows)


def _closing(found: Report) -> Table:
    """Whether raters saw through the blind."""
    blind = found.blinding
    rows = named(("Guessed right", blind.right), ("wrong", blind.wrong), ("not sure", blind.unsure),
                  ("Bang's index", blind.index))  # fmt: skip
    note = "1: all guessed right; 0: as by chance; -1: all guessed wrong."
    return Table("Did raters see through the blind?", ("", ""), rows, note)


def _plots(found: Results, report: Report, *, all_votes: bool) -> tuple[Plot, ...]:
    figures, strata = report.kept, report.kept_strata
    if all_votes:
        figures, strata = report.everything, report.all_strata
    moments = [
        row.vote.submitted_at
        for row in found.rows
        if row.main
        and row.vote.ballot.choice != "skip"
        and (all_votes or row.vote.assignment not in found.excluded)
    ]
    return plots(figures, strata, moments)


def _facts(found: Results) -> tuple[tuple[str, str], ...]:
    protocol, unblinding = found.study.protocol, found.unblinding
    facts = [
        ("Question", protocol.question),
        ("Status", f"{found.study.status}; the systems are {'masked' if found.masked else 'named'}"),
        ("Protocol, SHA-256", found.study.sha256 or "-"),
    ]
    if found.study.elsewhere:
        facts.append(("Votes", "collected elsewhere and imported; the first system named counts as the left"))
    if unblinding:
        facts += [
            ("Unblinded", f"{unblinding.at:%Y-%m-%d %H:%M} UTC by {unblinding.actor}: {unblinding.reason}"),
            ("Votes at that moment, SHA-256", unblinding.votes_sha256),
        ]
    return tuple(facts)


def view(found: Results) -> Mapping[str, Any]:
    """The report as the page reads it."""
    return {**asdict(told(found)), "masked": found.masked}


def document(found: Results) -> str:
    """The report as one HTML file without scripts and without anything from elsewhere."""
    what = told(found)
    facts = "".join(
        f"<dt>{_plain(name)}</dt><dd><code>{_plain(value)}</code></dd>" for name, value in what.facts
    )
    sentences = "".join(f"<li>{_plain(sentence)}</li>" for sentence in what.summary)
    body = f"<h1>{_plain(what.name)}</h1><dl>{facts}</dl><h2>Summary</h2><ul>{sentences}</ul>"
    body += "".join(_section(section) for section in what.sections)
    head = f'<meta charset="utf-8"><title>{_plain(what.name)}: report</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'


def _section(section: Section) -> str:
    figures = "".join(f"<figure>{plot.svg}</figure>" for plot in section.plots)
    return f"<h2>{_plain(section.title)}</h2>{figures}{''.join(map(_table, section.tables))}"


def _table(table: Table) -> str:
    rows = "".join(_row("td", row) for row in table.rows)
    head = _row("th", table.columns) if any(table.columns) else ""
    note = f'<p class="note">{_plain(table.note)}</p>' if table.note else ""
    return f'<h3>{_plain(table.title)}</h3><div class="wide"><table>{head}{rows}</table></div>{note}'


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{_plain(cell)}</{tag}>" for cell in cells) + "</tr>"


def _plain(words: str) -> str:
    return html.escape(words)
