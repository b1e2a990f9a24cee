//! Running a script: every question, every answer, every call of the summarizer, and the session before and after.
//! What the suite can see it writes down itself; nothing is taken on the subject's word.

use std::{collections::HashMap, sync::Arc};

use turnfold_core::{
    Event, Window,
    session::{MemoryLog, SessionLog, Version},
};

use crate::{
    protocol::{
        Answer, Append, Call, Callback, Checked, Compact, Failed, Open, Outcome, Reason, Request, Said, Stamp,
    },
    script::{Op, Pass, Script, SessionPass},
    subject::{Fault, FaultKind, Meanwhile, Subject, Suite},
    words::Words,
};

/// A session as the subject shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its log
    pub log: Vec<Event>,
    /// Its view, or why there is none
    pub view: Result<Vec<Event>, Failed>,
    /// Its version
    pub version: u64,
}

/// One operation and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// What was done
    pub op: Op,
    /// The pass over a view that was asked for, if it was one; `again` asks for the last one's window and summarizer
    pub pass: Option<Pass>,
    /// The view that the pass saw, if it was one and the view can be read
    pub view: Option<Arc<Vec<Event>>>,
    /// The calls of the summarizer
    pub calls: Vec<Call>,
    /// What came of it
    pub result: Effect,
    /// The session before, of a session's operation
    pub before: Option<State>,
    /// The session after
    pub after: Option<State>,
}

/// What an operation did.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A pass cut
    Changed(Box<Change>),
    /// A pass changed nothing
    Unchanged,
    /// Anything else, as it was answered
    Answered(Answer),
}

/// What a cutting pass did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The next view
    pub view: Vec<Event>,
    /// Pinned events
    pub pinned: Vec<Event>,
    /// Covered events
    pub covered: Vec<Event>,
    /// Preserved events
    pub preserved: Vec<Event>,
    /// Summary events
    pub summary: Vec<Event>,
    /// Tokens saved, if told
    pub saved: Option<i64>,
    /// Tokens over the budget, if told
    pub overshoot: Option<u64>,
    /// Whether the suite worked the places out from the next view
    pub derived: bool,
}

/// A script with all that came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript(pub Vec<Moment>);

/// Runs a script on a subject.
///
/// # Errors
///
/// The first question that got no answer.
pub fn run<S: Subject + ?Sized>(subject: &mut S, script: &Script) -> Result<Transcript, Fault> {
    let mut runner = Runner {
        subject,
        held: script.is_held().then(MemoryLog::new),
        stamps: 0,
        opened: 0,
        closed: false,
        last: None,
        runs_again: script.0.contains(&Op::Again),
    };
    let mut moments = Vec::with_capacity(script.0.len());
    if script.is_session() {
        runner.request(&Op::Open(Vec::new().into()), &Request::Open(Open { log: Vec::new().into() }))?;
    }
    for op in &script.0 {
        moments.push(runner.step(op)?);
    }
    Ok(Transcript(moments))
}

struct Runner<'s, S: ?Sized> {
    subject: &'s mut S,
    held: Option<MemoryLog>,
    stamps: u32,
    opened: u64,
    closed: bool,
    /// The last pass and the view it left, where a script will run it again
    last: Option<(Pass, Arc<Vec<Event>>)>,
    runs_again: bool,
}

impl<S: Subject + ?Sized> Runner<'_, S> {
    fn step(&mut self, op: &Op) -> Result<Moment, Fault> {
        if self.closed && !matches!(op, Op::Pass(_) | Op::Again | Op::Open(_)) {
            return Ok(Moment::plain(op, Effect::Answered(Answer::unsupported("no session is open"))));
        }
        match op {
            Op::Pass(pass) => self.pass(op, pass),
            Op::Again => match self.last.clone() {
                Some((pass, view)) => self.pass(op, &Pass { view: view.into(), ..pass }),
                None => Ok(Moment::plain(op, Effect::Answered(Answer::unsupported("no pass to run again")))),
            },
            Op::Open(log) => self.open(op, log),
            Op::Append(event) => self.watched(op, &Request::Append(Append::One { event: event.clone() })),
            Op::Batch(events) => {
                let expected = self.state()?.version;
                self.watched(op, &Request::Append(Append::Batch { events: events.clone(), expected }))
            }
            Op::StaleBatch(events) => {
                let expected = self.opened;
                self.watched(op, &Request::Append(Append::Batch { events: events.clone(), expected }))
            }
            Op::Compact(compact) => self.compact(op, compact),
            Op::View | Op::Log => {
                let state = self.state()?;
                let shown = match (op, &state.view) {
                    (Op::Log, _) => Answer::Log(state.log.clone()),
                    (_, Ok(view)) => Answer::View(view.clone()),
                    (_, Err(failed)) => Answer::Error(failed.clone()),
                };
                Ok(Moment { after: Some(state), ..Moment::plain(op, Effect::Answered(shown)) })
            }
        }
    }

    /// A session that was refused is not open, and there is nothing to look at.
    fn open(&mut self, op: &Op, log: &Checked<Vec<Event>>) -> Result<Moment, Fault> {
        let answer = self.request(op, &Request::Open(Open { log: log.clone() }))?;
        self.closed = !matches!(answer, Answer::Opened { .. });
        let after = if self.closed { None } else { Some(self.state()?) };
        self.opened = after.as_ref().map_or(0, |state| state.version);
        Ok(Moment { after, ..Moment::plain(op, Effect::Answered(answer)) })
    }

    fn pass(&mut self, op: &Op, pass: &Pass) -> Result<Moment, Fault> {
        let request = Request::Compact(Compact {
            view: Some(pass.view.clone()),
            window: pass.window.clone(),
            summarizer: pass.summarizer.is_some(),
            trigger: None,
            stamp: None,
            store: None,
        });
        let mut watch = Watch::new(pass.summarizer.as_ref());
        let answer = self.subject.ask(&request, &mut watch)?;
        let view = pass.view.shared();
        let answer = if view.is_some() { watch.readable(answer)? } else { offered(answer)? };
        let result = Effect::of(answer, view.as_deref().map_or(&[], Vec::as_slice));
        if self.runs_again {
            let next = match (&result, &view) {
                (Effect::Changed(change), _) => Arc::new(change.view.clone()),
                (_, Some(view)) => Arc::clone(view),
                (_, None) => Arc::default(),
            };
            self.last = Some((pass.clone(), next));
        }
        Ok(Moment { pass: Some(pass.clone()), view, calls: watch.calls, ..Moment::plain(op, result) })
    }

    fn compact(&mut self, op: &Op, compact: &SessionPass) -> Result<Moment, Fault> {
        let before = self.state()?;
        self.stamps += 1;
        let request = Request::Compact(Compact {
            view: None,
            window: compact.window.clone(),
            summarizer: compact.summarizer.is_some(),
            trigger: Some(
                compact.trigger.clone().unwrap_or_else(|| turnfold_core::session::Trigger::Always.into()),
            ),
            stamp: Some(compact.stamp.clone().unwrap_or_else(|| Stamp {
                boundary: format!("boundary-{}", self.stamps),
                time_ms: i64::from(self.stamps),
            })),
            store: self.held.is_some().then_some(Callback::Callback),
        });
        let mut watch = Watch::new(compact.summarizer.as_ref());
        watch.during.clone_from(&compact.during);
        watch.between.clone_from(&compact.between);
        watch.held = self.held.take();
        let holding = watch.held.is_some();
        let answer = self.subject.ask(&request, &mut watch)?;
        if holding {
            self.held = watch.held.take();
        }
        let answer = watch.readable(answer)?;
        let after = self.state()?;
        let view = before.view.clone().unwrap_or_default();
        let result = Effect::of(answer, &view);
        Ok(Moment {
            op: op.clone(),
            pass: None,
            view: before.view.is_ok().then(|| Arc::new(view)),
            calls: watch.calls,
            result,
            before: Some(before),
            after: Some(after),
        })
    }

    fn watched(&mut self, op: &Op, request: &Request) -> Result<Moment, Fault> {
        let before = self.state()?;
        let answer = self.request(op, request)?;
        let after = self.state()?;
        Ok(Moment { before: Some(before), after: Some(after), ..Moment::plain(op, Effect::Answered(answer)) })
    }

    /// Asks the session, which is the suite's own where the suite holds the log.
    fn request(&mut self, op: &Op, request: &Request) -> Result<Answer, Fault> {
        match &mut self.held {
            None => readable(self.subject.ask(request, &mut Watch::new(None))?),
            Some(held) => Ok(held_answer(held, op)),
        }
    }

    fn state(&mut self) -> Result<State, Fault> {
        if let Some(held) = &mut self.held {
            let (Ok(log), Ok(version)) = (held.events(), held.version());
            let view = Words::view_of(&log)
                .map_err(|message| Failed { class: crate::protocol::ErrorClass::CorruptLog, message });
            return Ok(State { log, view, version: version.0 });
        }
        let mut ask = |request: Request| self.subject.ask(&request, &mut Watch::new(None));
        let log = match ask(Request::Log {})? {
            Answer::Log(log) => log,
            other => return Err(unexpected("log", other)),
        };
        let view = match ask(Request::View {})? {
            Answer::View(view) => Ok(view),
            Answer::Error(failed) => Err(failed),
            other => return Err(unexpected("view", other)),
        };
        match ask(Request::Version {})? {
            Answer::Version(version) => Ok(State { log, view, version }),
            other => Err(unexpected("version", other)),
        }
    }
}

fn held_answer(held: &mut MemoryLog, op: &Op) -> Answer {
    match op {
        Op::Append(event) => {
            let (Ok(_), Ok(version)) = (held.append(event.clone()), held.version());
            Answer::Appended { version: version.0 }
        }
        Op::Open(log) => {
            *held = log.get().ok().and_then(|log| MemoryLog::open(log.clone()).ok()).unwrap_or_default();
            let Ok(version) = held.version();
            Answer::Opened { version: version.0 }
        }
        _ => Answer::unsupported("the suite holds the log"),
    }
}

/// A question about events gets an answer about events.
fn readable(answer: Answer) -> Result<Answer, Fault> {
    match offered(answer)? {
        Answer::Unreadable(why) => Err(Fault::protocol(why)),
        answer => Ok(answer),
    }
}

/// Nothing is asked that wasn't declared, so nothing may be refused.
fn offered(answer: Answer) -> Result<Answer, Fault> {
    match answer {
        Answer::Unsupported { why } => Err(Fault {
            kind: FaultKind::Refused,
            message: format!(
                "it declares it and answered `unsupported`: {}",
                crate::text::shorten(&why, 200)
            ),
        }),
        answer => Ok(answer),
    }
}

fn unexpected(asked: &str, answer: Answer) -> Fault {
    if let Answer::Unreadable(why) = answer {
        return Fault::protocol(why);
    }
    let said = serde_json::to_string(&answer).unwrap_or_default();
    Fault::protocol(format!("asked for `{asked}`, answered `{}`", crate::text::shorten(&said, 200)))
}

impl Moment {
    fn plain(op: &Op, result: Effect) -> Self {
        Self { op: op.clone(), pass: None, view: None, calls: Vec::new(), result, before: None, after: None }
    }

    /// The window, if it is a pass that has one.
    pub fn window(&self) -> Option<Window> {
        let window = match (&self.pass, &self.op) {
            (Some(pass), _) => &pass.window,
            (None, Op::Compact(compact)) => &compact.window,
            (None, _) => return None,
        };
        window.get().ok().copied()
    }

    /// What the summarizer says, if it is a pass that has one.
    pub fn summarizer(&self) -> Option<&Said> {
        match (&self.pass, &self.op) {
            (Some(pass), _) => pass.summarizer.as_ref(),
            (None, Op::Compact(compact)) => compact.summarizer.as_ref(),
            (None, _) => None,
        }
    }
}

impl Effect {
    fn of(answer: Answer, view: &[Event]) -> Self {
        match answer {
            Answer::Unchanged(Reason { .. }) => Self::Unchanged,
            Answer::Outcome(outcome) => Change::of(outcome, view).map_or(Self::Unchanged, Self::changed),
            other => Self::Answered(other),
        }
    }

    fn changed(change: Change) -> Self {
        Self::Changed(Box::new(change))
    }
}

impl Change {
    /// An outcome as a change; `None` if it left the view as it was.
    fn of(outcome: Outcome, view: &[Event]) -> Option<Self> {
        let change = match outcome.view {
            Some(next) => Self::from_view(next, view),
            None => {
                let mut change = Self {
                    view: Vec::new(),
                    pinned: outcome.pinned.unwrap_or_default(),
                    covered: outcome.covered.unwrap_or_default(),
                    preserved: outcome.preserved.unwrap_or_default(),
                    summary: outcome.summary.unwrap_or_default(),
                    saved: outcome.saved,
                    overshoot: outcome.overshoot,
                    derived: false,
                };
                change.view = [&change.pinned, &change.summary, &change.preserved]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect();
                change
            }
        };
        let nothing = change.covered.is_empty() && change.saved.unwrap_or(0) == 0 && change.view == view;
        (!nothing).then_some(change)
    }

    /// Works the places out from the next view: new synthetic events are the summary; kept system, synthetic and
    /// preamble events are pinned; the other kept ones preserved; the rest is covered.
    fn from_view(next: Vec<Event>, view: &[Event]) -> Self {
        let words = Words::of(view);
        let known: HashMap<&str, usize> =
            view.iter().enumerate().map(|(at, event)| (event.id.as_str(), at)).collect();
        let mut change = Self { derived: true, ..Self::default() };
        let mut kept = vec![false; view.len()];
        for event in &next {
            match known.get(event.id.as_str()) {
                Some(&at) => {
                    if let Some(kept) = kept.get_mut(at) {
                        *kept = true;
                    }
                    let place = if words.is_body(at) { &mut change.preserved } else { &mut change.pinned };
                    place.push(event.clone());
                }
                None if crate::words::is_synthetic(event) => change.summary.push(event.clone()),
                None => change.preserved.push(event.clone()),
            }
        }
        change.covered =
            view.iter().zip(&kept).filter(|(_, kept)| !**kept).map(|(event, _)| event.clone()).collect();
        change.view = next;
        change
    }
}

/// The suite's side of one question.
struct Watch<'s> {
    says: Option<&'s Said>,
    calls: Vec<Call>,
    during: Vec<Event>,
    between: Vec<Event>,
    reads: u32,
    held: Option<MemoryLog>,
}

impl<'s> Watch<'s> {
    fn new(says: Option<&'s Said>) -> Self {
        Self { says, calls: Vec::new(), during: Vec::new(), between: Vec::new(), reads: 0, held: None }
    }

    /// A question about events is answered, and its summarizer called, about events.
    fn readable(&self, answer: Answer) -> Result<Answer, Fault> {
        match self.calls.iter().find_map(|call| call.unreadable.clone()) {
            Some(why) => Err(Fault::protocol(why)),
            None => readable(answer),
        }
    }

    fn held(&mut self) -> Result<&mut MemoryLog, Fault> {
        self.held.as_mut().ok_or_else(|| Fault::protocol("used a log that the suite does not hold"))
    }

    /// Between the first read and the second, somebody appends.
    fn read(&mut self) -> Result<&mut MemoryLog, Fault> {
        self.reads += 1;
        if self.reads == 2 {
            for event in std::mem::take(&mut self.between) {
                let Ok(_) = self.held()?.append(event);
            }
        }
        self.held()
    }
}

impl Suite for Watch<'_> {
    fn summarize(&mut self, call: Call, session: &mut dyn Meanwhile) -> Result<Said, Fault> {
        self.calls.push(call);
        for event in std::mem::take(&mut self.during) {
            session.ask(&Request::Append(Append::One { event }))?;
        }
        Ok(self.says.cloned().unwrap_or(Said::Declined)) // a pass without one must not call: summary.once counts it
    }

    fn read_version(&mut self) -> Result<u64, Fault> {
        let Ok(version) = self.read()?.version();
        Ok(version.0)
    }

    fn read_events(&mut self) -> Result<Vec<Event>, Fault> {
        let Ok(events) = self.read()?.events();
        Ok(events)
    }

    fn write(&mut self, events: Vec<Event>, expected: u64) -> Result<Option<u64>, Fault> {
        let Ok(written) = self.held()?.append_batch(events, Version(expected));
        Ok(written.ok().map(|version| version.0))
    }
}

/// A view as a question, right as it stands.
impl From<&[Event]> for Checked<Vec<Event>> {
    fn from(events: &[Event]) -> Self {
        events.to_vec().into()
    }
}
