//! The cells of a strip: an event each where they fit, else neighbours of a turn together, else neighbouring turns.

use std::ops::Range;

use crate::compact::{
    compaction::{Compaction, Weighed, is_covered, is_pinned},
    paint::Speaker,
};

/// Where a cell's events go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Pinned, all of them
    Pinned,
    /// Covered, all of them
    Covered,
    /// Preserved, all of them
    Preserved,
    /// Not all to the same place
    Mixed,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Who speaks; of several events, who weighs most
    pub(crate) speaker: Speaker,
    /// Whether it begins with a turn start
    pub(crate) starts_turn: bool,
    /// Where its events go
    pub(crate) state: State,
    /// What they weigh
    pub(crate) tokens: u64,
}

/// Cells that stand together: what precedes the first turn, a turn, or several turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// In order, never none
    pub(crate) cells: Vec<Cell>,
    /// Whether the cut is before it
    pub(crate) after_cut: bool,
    /// Whether it precedes the first turn
    pub(crate) is_head: bool,
}

/// How much a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// At most so many events of a turn
    Events(usize),
    /// At most so many turns
    Turns(usize),
}

/// A strip's cells and how they are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cells {
    /// In order
    pub(crate) groups: Vec<Group>,
    /// How much a cell holds
    pub(crate) scale: Scale,
    /// Columns of a cell that another follows in its group
    pub(crate) cell_columns: usize,
    /// Columns between groups
    pub(crate) gap_columns: usize,
}

/// Columns of the cut, blanks around it included.
pub(crate) const CUT_COLUMNS: usize = 3;
/// The least columns of a head that is pinned, for its label.
const HEAD_COLUMNS: usize = 6;
/// The columns between the head and the first turn.
const HEAD_GAP: usize = 2;

/// Where the groups of a view lie: the head, if there is one, and each turn up to the next turn start.
fn spans(compaction: &Compaction<'_>) -> Vec<Range<usize>> {
    let view = &compaction.view;
    let starts = view.iter().enumerate().filter(|(_, event)| event.is_turn_start()).map(|(at, _)| at);
    let mut bounds: Vec<usize> = std::iter::once(0).chain(starts).chain([view.len()]).collect();
    bounds.dedup();
    bounds.windows(2).filter_map(|pair| Some(*pair.first()?..*pair.last()?)).collect()
}

impl Cells {
    /// The cells of a compaction, as many as stand in so many columns.
    pub(crate) fn fitting(compaction: &Compaction<'_>, columns: usize) -> Self {
        let spans = spans(compaction);
        let by_events = |events, cell_columns, gap_columns| {
            let groups =
                spans.iter().filter_map(|span| Group::of(compaction, span.clone(), events)).collect();
            let cells = Self { groups, scale: Scale::Events(events), cell_columns, gap_columns };
            (cells.columns() <= columns).then_some(cells)
        };
        let roomy = [(1, 2, 2), (1, 1, 1), (1, 1, 0)];
        if let Some(cells) = roomy.into_iter().find_map(|(events, cell, gap)| by_events(events, cell, gap)) {
            return cells;
        }
        let longest = spans.iter().map(Range::len).max().unwrap_or(0);
        let events = least(2..longest.saturating_add(1), |events| by_events(events, 1, 0).is_some());
        if let Some(cells) = by_events(events, 1, 1).or_else(|| by_events(events, 1, 0)) {
            return cells;
        }
        let by_turns = |turns| {
            let groups = bundled(compaction, &spans, turns);
            Self { groups, scale: Scale::Turns(turns), cell_columns: 1, gap_columns: 0 }
        };
        by_turns(least(2..spans.len(), |turns| by_turns(turns).columns() <= columns))
    }

    /// The columns they take.
    pub(crate) fn columns(&self) -> usize {
        let mut columns = 0_usize;
        let mut before: Option<&Group> = None;
        for group in &self.groups {
            columns = columns.saturating_add(self.columns_between(before, group));
            columns = columns.saturating_add(self.columns_of(group));
            before = Some(group);
        }
        columns
    }

    /// The columns of a group.
    pub(crate) fn columns_of(&self, group: &Group) -> usize {
        self.drawn_columns(group).max(group.least_columns())
    }

    /// The columns of a group's cells.
    pub(crate) fn drawn_columns(&self, group: &Group) -> usize {
        group.cells.len().saturating_sub(1).saturating_mul(self.cell_columns).saturating_add(1)
    }

    /// The columns between two groups.
    pub(crate) fn columns_between(&self, before: Option<&Group>, group: &Group) -> usize {
        match before {
            None => 0,
            Some(_) if group.after_cut => CUT_COLUMNS,
            Some(before) if before.is_head => HEAD_GAP,
            Some(_) => self.gap_columns,
        }
    }
}

/// The least number of a range that is enough, where every greater one is too; the range's end where none is.
fn least(range: Range<usize>, is_enough: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end.max(range.start));
    while low < high {
        let middle = low.midpoint(high);
        if is_enough(middle) { high = middle } else { low = middle.saturating_add(1) }
    }
    low
}

/// Turns by so many, the head by itself, never across the cut.
fn bundled(compaction: &Compaction<'_>, spans: &[Range<usize>], turns: usize) -> Vec<Group> {
    let is_head = |span: &Range<usize>| !compaction.view.get(span.start).is_some_and(Weighed::is_turn_start);
    let head = usize::from(spans.first().is_some_and(is_head));
    let (head, body) = spans.split_at_checked(head).unwrap_or((&[], spans));
    let cut = body.iter().position(|span| Some(span.start) == compaction.cut).unwrap_or(0);
    let (before, after) = body.split_at_checked(cut).unwrap_or((body, &[]));
    let zones = [head, before, after];
    let chunks = zones.into_iter().flat_map(|zone| zone.chunks(turns));
    let span = |chunk: &[Range<usize>]| Some(chunk.first()?.start..chunk.last()?.end);
    chunks.filter_map(span).filter_map(|span| Group::of(compaction, span.clone(), span.len())).collect()
}

impl Group {
    /// The least columns it takes.
    fn least_columns(&self) -> usize {
        let pinned = self.is_head && self.cells.iter().any(|cell| cell.state == State::Pinned);
        if pinned { HEAD_COLUMNS } else { 0 }
    }

    /// A span of the view, so many events a cell.
    fn of(compaction: &Compaction<'_>, span: Range<usize>, events: usize) -> Option<Self> {
        let first = compaction.view.get(span.start)?;
        let after_cut = compaction.cut == Some(span.start);
        let is_head = !first.is_turn_start();
        let positions: Vec<usize> = span.collect();
        let cells = positions.chunks(events.max(1)).filter_map(|chunk| Cell::of(compaction, chunk)).collect();
        Some(Self { cells, after_cut, is_head })
    }
}

impl Cell {
    fn of(compaction: &Compaction<'_>, positions: &[usize]) -> Option<Self> {
        let events: Vec<_> = positions
            .iter()
            .filter_map(|at| Some((compaction.view.get(*at)?, *compaction.places.get(*at)?)))
            .collect();
        let (first, _) = events.first()?;
        let state = |place| match place {
            place if is_pinned(place) => State::Pinned,
            place if is_covered(place) => State::Covered,
            _ => State::Preserved,
        };
        let mut states: Vec<State> = events.iter().map(|(_, place)| state(*place)).collect();
        states.dedup();
        let heaviest = events.iter().rev().max_by_key(|(event, _)| event.tokens);
        Some(Self {
            speaker: Speaker::of(heaviest.map_or(first, |(event, _)| event)),
            starts_turn: first.is_turn_start(),
            state: if let [state] = states.as_slice() { *state } else { State::Mixed },
            tokens: events.iter().fold(0, |sum, (event, _)| sum.saturating_add(event.tokens.into())),
        })
    }
}
