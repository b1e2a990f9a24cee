//! The frozen vectors of the spec, read as scripts with their answers (`spec/vectors/README.md` says what each field
//! means).

use serde::Deserialize;
use serde_json::Value;
use turnfold_core::{Boundary, Content, Event, EventId, Object, Window, session::Trigger};

use crate::{
    notation::{Names, Step},
    protocol::{Append, Checked, ErrorClass, Open, Said, Stamp},
    script::{Op, Pass, Script, SessionPass},
};

/// Every vector of the spec, by name.
///
/// # Panics
///
/// If a vector is not of the form of its schema, which a test of the spec rules out.
#[expect(clippy::panic, reason = "the files are constants, and a test reads every one")]
pub fn all() -> Vec<Vector> {
    turnfold_spec::documents::vectors()
        .map(|(name, text)| read(text).unwrap_or_else(|error| panic!("vector {name}: {error}")))
        .collect()
}

/// Reads one vector.
///
/// # Errors
///
/// A text that is not of the form of `schema/vector.json`.
pub fn read(text: &str) -> Result<Vector, serde_json::Error> {
    serde_json::from_str(text)
}

/// A frozen case with its right values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Vector {
    /// Its permanent name
    pub name: String,
    /// What it shows
    pub about: String,
    /// Where it comes from
    #[serde(default)]
    pub source: Option<String>,
    /// The rules it bears on; the first is the one it is about
    pub rules: Vec<String>,
    #[serde(flatten)]
    case: Case,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "one vector at a time is held")]
enum Case {
    Pass { view: Checked<Vec<Event>>, window: Checked<Window>, summarizer: Option<Said>, expected: Expected },
    Session { steps: Vec<SessionStep> },
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct SessionStep {
    request: Request,
    #[serde(default)]
    summarizer: Option<Said>,
    #[serde(default)]
    during: Vec<Event>,
    #[serde(default)]
    between: Vec<Event>,
    expected: Expected,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    Open(Open),
    Append(VectorAppend),
    Compact { trigger: Checked<Trigger>, window: Checked<Window>, stamp: Stamp },
    View {},
    Log {},
    Version {},
}

/// An append names no version: `current` or `opened` stand for one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum VectorAppend {
    Batch { events: Vec<Event>, expected: String },
    One(Append),
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Expected {
    Outcome(Outcome),
    Unchanged(Called),
    Raced(Called),
    Error {
        class: ErrorClass,
        #[serde(default)]
        handed: Option<Handed>,
    },
    Opened(bool),
    Appended(String),
    Refused(Value),
    View(Vec<EventId>),
    Log(Vec<Logged>),
    Version(String),
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Outcome {
    pinned: Vec<EventId>,
    covered: Vec<EventId>,
    preserved: Vec<EventId>,
    summary: Option<Value>,
    handed: Option<Handed>,
    #[serde(default)]
    saved: Option<i64>,
    #[serde(default)]
    overshoot: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
struct Called {
    #[serde(default)]
    handed: Option<Handed>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Handed {
    prior: Option<String>,
    events: Vec<EventId>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Logged {
    Event(EventId),
    Boundary { id: EventId, pinned: Vec<EventId>, preserved: Vec<EventId> },
}

impl Vector {
    /// The case as operations with the answers that are right.
    pub fn steps(&self) -> Vec<Step> {
        let unread: Vec<(Op, Option<&Expected>)> = match &self.case {
            Case::Pass { view, window, summarizer, expected } => {
                let pass =
                    Pass { view: view.clone(), window: window.clone(), summarizer: summarizer.clone() };
                vec![(Op::Pass(pass), Some(expected))]
            }
            Case::Session { steps } => steps.iter().map(SessionStep::op).collect(),
        };
        let script = Script(unread.iter().map(|(op, _)| op.clone()).collect());
        let mut shown = Shown { events: known(&script), names: Names::of(&script) };
        unread
            .into_iter()
            .enumerate()
            .map(|(nth, (op, expected))| Step {
                line: format!("{}, step {}", self.name, nth + 1),
                answer: expected.map(|expected| shown.answer(&op, expected)).unwrap_or_default(),
                ops: vec![op],
            })
            .collect()
    }
}

impl SessionStep {
    /// A version is opaque and is judged by the rules, so it is not asked again.
    fn op(&self) -> (Op, Option<&Expected>) {
        let op = match &self.request {
            Request::Open(open) => Op::Open(open.log.clone()),
            Request::Append(VectorAppend::Batch { events, expected }) if expected == "opened" => {
                Op::StaleBatch(events.clone())
            }
            Request::Append(
                VectorAppend::Batch { events, .. } | VectorAppend::One(Append::Batch { events, .. }),
            ) => Op::Batch(events.clone()),
            Request::Append(VectorAppend::One(Append::One { event })) => Op::Append(event.clone()),
            Request::Compact { trigger, window, stamp } => Op::Compact(SessionPass {
                window: window.clone(),
                trigger: Some(trigger.clone()),
                summarizer: self.summarizer.clone(),
                during: self.during.clone(),
                between: self.between.clone(),
                stamp: Some(stamp.clone()),
            }),
            Request::View {} | Request::Version {} => Op::View,
            Request::Log {} => Op::Log,
        };
        let expected = (!matches!(self.request, Request::Version {})).then_some(&self.expected);
        (op, expected)
    }
}

fn known(script: &Script) -> Vec<Event> {
    script
        .0
        .iter()
        .flat_map(|op| match op {
            Op::Pass(pass) => pass.view.get().cloned().unwrap_or_default(),
            Op::Open(log) => log.get().cloned().unwrap_or_default(),
            Op::Append(event) => vec![event.clone()],
            Op::Batch(events) | Op::StaleBatch(events) => events.clone(),
            Op::Compact(compact) => compact.during.iter().chain(&compact.between).cloned().collect(),
            Op::Again | Op::View | Op::Log => Vec::new(),
        })
        .collect()
}

/// Writes answers as the notation does: an id that no event of the case has was written by a pass.
struct Shown {
    events: Vec<Event>,
    names: Names,
}

impl Shown {
    fn answer(&mut self, op: &Op, expected: &Expected) -> Vec<String> {
        match expected {
            Expected::Outcome(outcome) => self.outcome(op, outcome),
            Expected::Unchanged(Called { handed }) => self.called(handed.as_ref(), "unchanged".into()),
            Expected::Raced(Called { handed }) => self.called(handed.as_ref(), "raced".into()),
            Expected::Error { class, handed } => {
                self.called(handed.as_ref(), format!("error {}", class.as_str()))
            }
            Expected::Opened(_) => vec!["opened".into()],
            Expected::Appended(how) => {
                let events = known(&Script(vec![op.clone()]));
                let verb = if how == "moved" { "added" } else { "repeated" };
                vec![format!("{verb} {}", self.names.list(&events))]
            }
            Expected::Refused(_) => vec!["refused".into()],
            Expected::View(ids) => vec![self.list(ids)],
            Expected::Log(log) => {
                let events: Vec<Event> = log
                    .iter()
                    .map(|logged| match logged {
                        Logged::Event(id) => self.event(id),
                        Logged::Boundary { id, pinned, preserved } => boundary(id, pinned, preserved),
                    })
                    .collect();
                vec![self.names.list(&events)]
            }
            Expected::Version(_) => Vec::new(),
        }
    }

    fn called(&mut self, handed: Option<&Handed>, end: String) -> Vec<String> {
        handed.map(|handed| self.handed(handed)).into_iter().chain([end]).collect()
    }

    fn handed(&mut self, handed: &Handed) -> String {
        let events = self.list(&handed.events);
        match &handed.prior {
            Some(prior) => format!("handed prior {prior:?}; {events}"),
            None => format!("handed {events}"),
        }
    }

    fn outcome(&mut self, op: &Op, outcome: &Outcome) -> Vec<String> {
        let mut lines: Vec<String> =
            outcome.handed.as_ref().map(|handed| self.handed(handed)).into_iter().collect();
        let part = |shown: &mut Self, word: &str, ids: &[EventId]| {
            (!ids.is_empty()).then(|| format!("{word} {}", shown.list(ids)))
        };
        lines.extend(part(self, "pinned", &outcome.pinned));
        lines.extend(part(self, "covered", &outcome.covered));
        if outcome.summary.is_some() {
            let stamp = match op {
                Op::Compact(SessionPass { stamp: Some(stamp), .. }) => stamp.boundary.clone(),
                _ => "summary".into(),
            };
            let halves = [format!("{stamp}.user"), format!("{stamp}.assistant")].map(EventId::from);
            lines.extend(part(self, "summary", &halves));
        }
        lines.extend(part(self, "preserved", &outcome.preserved));
        lines.extend(outcome.saved.map(|saved| format!("saved {saved}")));
        lines.extend(outcome.overshoot.map(|overshoot| format!("overshoot {overshoot}")));
        lines
    }

    fn list(&mut self, ids: &[EventId]) -> String {
        let events: Vec<Event> = ids.iter().map(|id| self.event(id)).collect();
        self.names.list(&events)
    }

    fn event(&self, id: &EventId) -> Event {
        self.events.iter().find(|event| event.id == *id).cloned().unwrap_or_else(|| {
            let role = if id.as_str().strip_suffix(".user").is_some() { "user" } else { "assistant" };
            Event::message(id.clone(), role.parse().unwrap_or(turnfold_core::Role::Assistant), "").synthetic()
        })
    }
}

fn boundary(id: &EventId, pinned: &[EventId], preserved: &[EventId]) -> Event {
    let names = Boundary {
        strategy: "window".into(),
        pinned: pinned.to_vec(),
        preserved: preserved.to_vec(),
        extra: Object::new(),
    };
    Event::new(id.clone(), Content::Boundary(names))
}
