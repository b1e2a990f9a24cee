//! The cut, three ways: by the source's steps, by its definition, by the index of a view. They agree over every view of
//! up to seven events, and over random long ones.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a proof stops at the first surprise"
)]

use std::{
    borrow::Cow,
    fmt,
    ops::AddAssign,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use proptest::{prelude::*, sample::Index, test_runner::TestRunner};
use turnfold_core::{Identified, MAX_SIZE, Plan, Role, Unchanged, View, ViewEvent, Window, cut, plan};

/// The longest view of the exhaustive proof.
const LONGEST: usize = 7;

/// The smallest event a pass can read.
#[derive(Clone, Copy)]
struct Piece {
    role: Role,
    synthetic: bool,
    weight: u32,
    id: [u8; 3],
}

impl Piece {
    fn new(role: Role, synthetic: bool, weight: u32, position: usize) -> Self {
        let digit = |of: usize| b'0'.saturating_add(u8::try_from(position / of % 10).unwrap());
        Self { role, synthetic, weight, id: [digit(100), digit(10), digit(1)] }
    }
}

impl ViewEvent for Piece {
    fn role(&self) -> Role {
        self.role
    }
    fn is_synthetic(&self) -> bool {
        self.synthetic
    }
    fn weight(&self) -> u32 {
        self.weight
    }
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
}

impl Identified for Piece {
    fn id(&self) -> &str {
        str::from_utf8(&self.id).unwrap()
    }
}

/// As small logs are written, lower case for synthetic: `S:6 U:1 a:0`.
impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.role {
            Role::System => 's',
            Role::User => 'u',
            Role::Assistant => 'a',
            Role::Tool => 't',
        };
        let letter = if self.synthetic { letter } else { letter.to_ascii_uppercase() };
        write!(f, "{letter}:{}", self.weight)
    }
}

/// A definition of the cut, to be held against the product's.
type Definition = fn(&[Piece], Window, bool) -> Option<usize>;

/// The three answers to one question, where they differ.
#[derive(Debug)]
#[expect(dead_code, reason = "its Debug form is the report")]
struct Disagreement {
    view: Vec<Piece>,
    window: Window,
    summarizing: bool,
    steps: Plan,
    index: Plan,
    definition: Option<Result<usize, Unchanged>>,
}

/// The turn starts of a view, from the spec's sentence.
fn turn_starts(view: &[Piece]) -> impl Iterator<Item = usize> {
    view.iter()
        .enumerate()
        .filter(|(_, piece)| piece.role == Role::User && !piece.synthetic)
        .map(|(at, _)| at)
}

/// What a defined cut means for the plan; `None` where no plan may follow from it.
fn expected(view: &[Piece], defined: Option<usize>) -> Option<Result<usize, Unchanged>> {
    let mut starts = turn_starts(view);
    match (starts.next(), starts.next(), defined) {
        (None, _, None) => Some(Err(Unchanged::NoTurn)),
        (Some(only), None, Some(at)) if at == only => Some(Err(Unchanged::SingleTurn)),
        (Some(first), Some(_), Some(at)) if at == first => Some(Err(Unchanged::Fits)),
        (Some(_), Some(_), Some(at)) => Some(Ok(at)),
        _ => None,
    }
}

fn answer(plan: &Plan) -> Result<usize, Unchanged> {
    match plan {
        Plan::Unchanged(reason) => Err(*reason),
        Plan::Cut(cut) => Ok(cut.at()),
    }
}

/// Asks the same question three times. The answer all agree on, or what they said.
fn agreement(
    view: &[Piece],
    indexed: &View<Piece>,
    window: Window,
    summarizing: bool,
    definition: Definition,
) -> Result<Result<usize, Unchanged>, Box<Disagreement>> {
    let steps = plan(view, window, summarizing);
    let index = indexed.plan(window, summarizing);
    let definition = expected(view, definition(view, window, summarizing));
    let answer = answer(&steps);
    if index == steps && definition == Some(answer) {
        return Ok(answer);
    }
    Err(Box::new(Disagreement { view: view.to_vec(), window, summarizing, steps, index, definition }))
}

/// How often each answer was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Census {
    views: u64,
    no_turn: u64,
    single_turn: u64,
    fits: u64,
    cuts: u64,
}

impl Census {
    fn count(&mut self, answer: Result<usize, Unchanged>) {
        let field = match answer {
            Err(Unchanged::NoTurn) => &mut self.no_turn,
            Err(Unchanged::SingleTurn) => &mut self.single_turn,
            Err(Unchanged::Fits) => &mut self.fits,
            Err(Unchanged::Declined) => unreachable!("a plan asks nobody"),
            Ok(_) => &mut self.cuts,
        };
        *field += 1;
    }

    fn cases(&self) -> u64 {
        self.no_turn + self.single_turn + self.fits + self.cuts
    }
}

impl AddAssign for Census {
    fn add_assign(&mut self, other: Self) {
        self.views += other.views;
        self.no_turn += other.no_turn;
        self.single_turn += other.single_turn;
        self.fits += other.fits;
        self.cuts += other.cuts;
    }
}

/// What the events weigh by position, and whether windows that read no weight are asked as well.
struct Weighting {
    weights: [u32; LONGEST],
    unweighted_windows: bool,
}

/// Every sum from nothing to all is met by some suffix, and budgets run from 1 to beyond the total, so a budget is met
/// exactly, missed by one, and overdrawn by what is pinned.
const WEIGHTINGS: [Weighting; 4] = [
    Weighting { weights: [1; LONGEST], unweighted_windows: true },
    Weighting { weights: [0; LONGEST], unweighted_windows: false },
    Weighting { weights: [3, 1, 0, 2, 1, 0, 4], unweighted_windows: false },
    Weighting { weights: [0, 2, 1, 3, 0, 1, 1], unweighted_windows: false },
];

/// Every view that begins with what `view` holds, each compared under every window.
struct Enumeration<'w> {
    weighting: &'w Weighting,
    longest: usize,
    definition: Definition,
    view: Vec<Piece>,
    census: Census,
}

impl Enumeration<'_> {
    fn compare(&mut self, indexed: &View<Piece>) -> Result<(), Box<Disagreement>> {
        self.census.views += 1;
        let total: u64 = self.view.iter().map(|piece| u64::from(piece.weight)).sum();
        let counted = if self.weighting.unweighted_windows { 8 } else { 0 };
        let windows = ((1..=counted).map(Window::last_events))
            .chain((1..=counted).map(Window::last_turns))
            .chain((1..=total + 1).map(Window::token_budget));
        for window in windows {
            let window = window.unwrap();
            for summarizing in [false, true] {
                let answer = agreement(&self.view, indexed, window, summarizing, self.definition)?;
                self.census.count(answer);
            }
        }
        Ok(())
    }

    fn descend(&mut self, indexed: &View<Piece>) -> Result<(), Box<Disagreement>> {
        self.compare(indexed)?;
        if self.view.len() < self.longest {
            for letter in 0..8 {
                self.descend_into(letter, indexed)?;
            }
        }
        Ok(())
    }

    fn descend_into(&mut self, letter: usize, indexed: &View<Piece>) -> Result<(), Box<Disagreement>> {
        let position = self.view.len();
        let weight = self.weighting.weights.get(position).copied().unwrap_or_default();
        let role = Role::ALL.into_iter().nth(letter / 2).unwrap();
        let piece = Piece::new(role, letter % 2 == 1, weight, position);
        let mut longer = indexed.clone();
        longer.push(piece).unwrap();
        self.view.push(piece);
        self.descend(&longer)?;
        self.view.pop();
        Ok(())
    }
}

/// Every view of up to `longest` events under every weighting and window, on two threads.
fn enumerate(longest: usize, definition: Definition) -> Result<Census, Box<Disagreement>> {
    let jobs: Vec<_> =
        WEIGHTINGS.iter().flat_map(|weighting| (0..8).map(move |first| (weighting, first))).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<Census, Box<Disagreement>> {
        let mut census = Census::default();
        while let Some(&(weighting, first)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut from =
                Enumeration { weighting, longest, definition, view: Vec::new(), census: Census::default() };
            if first == 0 {
                from.compare(&View::new())?;
            }
            from.descend_into(first, &View::new())?;
            census += from.census;
        }
        Ok(census)
    };
    thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut census = work()?;
        census += other.join().expect("the proof ran into a panic")?;
        Ok(census)
    })
}

#[test]
fn steps_definition_and_index_agree_on_every_small_view() {
    let census = enumerate(LONGEST, cut::by_definition).unwrap_or_else(|found| panic!("{found:#?}"));
    println!("{} cases over {} weighted views, all agree: {census:?}", census.cases(), census.views);
    let views: u64 = (0..=7).map(|length| 8_u64.pow(length)).sum();
    assert_eq!(census.views, views * 4, "every view under every weighting");
    for seen in [census.no_turn, census.single_turn, census.fits, census.cuts] {
        assert!(seen > 1_000_000, "too few cases of one answer: {census:?}");
    }
}

/// A body event, by the spec's sentence once the preamble is out of the way.
fn plain(piece: &Piece) -> bool {
    piece.role != Role::System && !piece.synthetic
}

fn weigh<'p>(pieces: impl Iterator<Item = &'p Piece>) -> i128 {
    pieces.map(|piece| i128::from(piece.weight)).sum()
}

fn pinned(view: &[Piece], summarizing: bool) -> i128 {
    let first = turn_starts(view).next().unwrap_or(view.len());
    weigh(view.iter().rfind(|piece| piece.role == Role::System && !piece.synthetic).into_iter())
        + weigh(view.iter().take(first).filter(|piece| plain(piece)))
        + weigh(view.iter().filter(|piece| piece.synthetic && !summarizing))
}

/// The definition over another notion of what fits.
fn smallest(view: &[Piece], fits: impl Fn(&[Piece]) -> bool) -> Option<usize> {
    turn_starts(view).find(|&start| fits(&view[start..])).or(turn_starts(view).last())
}

fn fits(suffix: &[Piece], window: Window, allowance: i128) -> bool {
    let mut body = suffix.iter().filter(|piece| plain(piece));
    match window {
        Window::Events(size) => body.count() as u64 <= size.get(),
        Window::Turns(size) => turn_starts(suffix).count() as u64 <= size.get(),
        Window::Tokens(_) => weigh(&mut body) <= allowance,
    }
}

fn allowance(view: &[Piece], window: Window, summarizing: bool) -> i128 {
    i128::from(window.size()) - pinned(view, summarizing)
}

fn newest_that_fits(view: &[Piece], window: Window, summarizing: bool) -> Option<usize> {
    let left = allowance(view, window, summarizing);
    turn_starts(view).filter(|&start| fits(&view[start..], window, left)).last().or(turn_starts(view).last())
}

fn exclusive(view: &[Piece], window: Window, summarizing: bool) -> Option<usize> {
    smallest(view, |suffix| fits(suffix, window, allowance(view, window, summarizing) - 1))
}

fn superseded_charged(view: &[Piece], window: Window, summarizing: bool) -> Option<usize> {
    smallest(view, |suffix| match window {
        Window::Events(size) => suffix.iter().filter(|piece| !piece.synthetic).count() as u64 <= size.get(),
        _ => fits(suffix, window, allowance(view, window, summarizing)),
    })
}

fn clamped(view: &[Piece], window: Window, summarizing: bool) -> Option<usize> {
    smallest(view, |suffix| fits(suffix, window, allowance(view, window, summarizing).max(0)))
}

fn prior_charged(view: &[Piece], window: Window, _: bool) -> Option<usize> {
    smallest(view, |suffix| fits(suffix, window, allowance(view, window, false)))
}

fn splitting(view: &[Piece], window: Window, summarizing: bool) -> Option<usize> {
    let (first, newest) = (turn_starts(view).next()?, turn_starts(view).last()?);
    (first..=newest)
        .find(|&at| fits(&view[at..], window, allowance(view, window, summarizing)))
        .or(Some(newest))
}

fn covering_everything(view: &[Piece], window: Window, summarizing: bool) -> Option<usize> {
    turn_starts(view).find(|&at| fits(&view[at..], window, allowance(view, window, summarizing)))
}

/// Reads `U:0 a:3`.
fn pieces(letters: &str) -> Vec<Piece> {
    let piece = |(position, word): (usize, &str)| {
        let (letter, weight) = word.split_once(':').unwrap();
        let role = match letter.to_ascii_lowercase().as_str() {
            "s" => Role::System,
            "u" => Role::User,
            "a" => Role::Assistant,
            "t" => Role::Tool,
            other => panic!("no role is written `{other}`"),
        };
        Piece::new(role, letter.starts_with(char::is_lowercase), weight.parse().unwrap(), position)
    };
    letters.split_whitespace().enumerate().map(piece).collect()
}

#[test]
fn a_wrong_definition_is_told() {
    let events = Window::last_events;
    let budget = Window::token_budget;
    let wrong: [(&str, Definition, &str, Window); 7] = [
        ("newest that fits", newest_that_fits, "U:1 U:1", Window::last_turns(2).unwrap()),
        ("exclusive", exclusive, "U:0 U:1", budget(1).unwrap()),
        ("superseded charged", superseded_charged, "U:1 S:1 S:1 U:1", events(2).unwrap()),
        ("clamped", clamped, "S:2 U:0 U:0", budget(1).unwrap()),
        ("prior charged", prior_charged, "u:0 a:3 U:1 U:1", budget(2).unwrap()),
        ("splitting", splitting, "U:1 A:1 U:1 A:1", events(3).unwrap()),
        ("covering everything", covering_everything, "U:1 A:1 U:1 A:1", events(1).unwrap()),
    ];
    for (name, definition, letters, window) in wrong {
        let view = pieces(letters);
        let indexed = View::from_events(view.clone()).unwrap();
        let ask = |definition| agreement(&view, &indexed, window, true, definition);
        assert!(ask(cut::by_definition).is_ok(), "{name}: the right one is no disagreement");
        assert!(ask(definition).is_err(), "{name} over {view:?} under {window}");
        let found = enumerate(5, definition).expect_err(name);
        assert!(found.view.len() <= 5, "{name}: {found:?}");
    }
}

/// A size, from the view where it is to be met or missed by one.
#[derive(Clone, Debug)]
enum Aim {
    Size(u64),
    Suffix(Index, i128),
}

fn aim() -> impl Strategy<Value = Aim> {
    prop_oneof![
        4 => (any::<Index>(), -1..=1_i128).prop_map(|(from, off)| Aim::Suffix(from, off)),
        2 => (1..=310_u64).prop_map(Aim::Size),
        1 => (1..=MAX_SIZE).prop_map(Aim::Size),
        1 => Just(Aim::Size(MAX_SIZE)),
    ]
}

/// Up to 300 events; `odds` in a hundred start a turn, so turns are from one to some hundred events long.
fn long_view() -> impl Strategy<Value = Vec<Piece>> {
    let weight = prop_oneof![Just(0), 0..=9_u32, any::<u32>(), Just(u32::MAX)];
    let scale = prop_oneof![Just(0_u32), Just(1), Just(9), Just(u32::MAX)];
    let dice = proptest::collection::vec((0..100_u32, 0..4_usize, weight), 0..=300);
    (prop_oneof![Just(1_u32), Just(5), Just(20), Just(60)], scale, dice).prop_map(|(odds, scale, dice)| {
        let piece = |(position, &(dice, role, weight)): (usize, &(u32, usize, u32))| {
            let (role, synthetic) = match dice {
                _ if dice < odds => (Role::User, false),
                _ if dice < odds + 4 => (Role::System, false),
                _ if dice < odds + 8 => (Role::ALL[role], true),
                _ => ([Role::Assistant, Role::Tool][role % 2], false),
            };
            Piece::new(role, synthetic, weight.min(scale), position)
        };
        dice.iter().enumerate().map(piece).collect()
    })
}

#[test]
fn steps_definition_and_index_agree_on_long_views() {
    let config = ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() };
    let census = std::cell::Cell::new((Census::default(), 0_u64));
    let question = (long_view(), aim(), 0..3_usize, any::<bool>());
    let asked = TestRunner::new(config).run(&question, |(view, aim, kind, summarizing)| {
        let make = [Window::last_events, Window::last_turns, Window::token_budget][kind];
        let (size, exact) = match aim {
            Aim::Size(size) => (size, false),
            Aim::Suffix(from, off) => {
                let body = &view[from.index(view.len() + 1)..];
                let (events, turns) = (body.iter().filter(|piece| plain(piece)), turn_starts(body));
                let count = match kind {
                    0 => events.count() as i128,
                    1 => turns.count() as i128,
                    _ => pinned(&view, summarizing) + weigh(events),
                };
                (u64::try_from((count + off).max(1)).unwrap(), off == 0)
            }
        };
        let indexed = View::from_events(view.clone()).unwrap();
        let answer = agreement(&view, &indexed, make(size).unwrap(), summarizing, cut::by_definition);
        let answer = answer.map_err(|found| TestCaseError::fail(format!("{found:?}")))?;
        let (mut counts, mut exact_cuts) = census.get();
        counts.count(answer);
        exact_cuts += u64::from(exact && answer.is_ok());
        census.set((counts, exact_cuts));
        Ok(())
    });
    asked.unwrap_or_else(|failure| panic!("{failure}"));
    let (census, exact_cuts) = census.get();
    println!("{} random cases, {exact_cuts} cuts at a size met exactly: {census:?}", census.cases());
    for seen in [census.no_turn, census.single_turn, census.fits, census.cuts, exact_cuts] {
        assert!(seen > 40, "too few cases of one answer: {census:?}, {exact_cuts} exact");
    }
}
