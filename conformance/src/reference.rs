//! The reference: `turnfold-core` as a subject. It is asked like any other implementation, and nothing but the
//! differential oracle and the snapshots know that it is the one with the right answers.

use std::cell::RefCell;

use turnfold_core::{
    Event, EventType, InvalidView, Outcome, Plan, Summary, SummaryRequest, View, Window, require_weights,
    session::{
        Added, Attempt, CompactError, Compacted, Corruption, MemoryLog, Refused, SessionLog, Stamped,
        Trigger, Version,
    },
};

use crate::{
    protocol::{
        self, Answer, Append, Call, Capabilities, Compact, ErrorClass, Hello, Implementation, Request, Said,
    },
    subject::{Closed, Fault, Meanwhile, Subject, Suite},
};

/// `turnfold-core` with a session in memory.
#[derive(Debug, Default)]
pub struct Reference {
    log: RefCell<MemoryLog>,
}

impl Subject for Reference {
    fn hello(&mut self) -> Result<Hello, Fault> {
        Ok(Hello {
            protocol: protocol::PROTOCOL,
            implementation: Implementation {
                name: "turnfold-core".into(),
                version: Some(env!("CARGO_PKG_VERSION").into()),
                language: Some("Rust".into()),
            },
            capabilities: Capabilities::all(),
        })
    }

    fn ask(&mut self, request: &Request, suite: &mut dyn Suite) -> Result<Answer, Fault> {
        match request {
            Request::Hello(_) => self.hello().map(Answer::Hello),
            Request::Compact(compact) if compact.view.is_some() => pass(compact, suite),
            Request::Compact(compact) if compact.store.is_some() => {
                session_pass(compact, &RefCell::new(Held(suite)), |held, call| {
                    held.borrow_mut().0.summarize(call, &mut Closed)
                })
            }
            Request::Compact(compact) => {
                session_pass(compact, &self.log, |log, call| suite.summarize(call, &mut Shared(log)))
            }
            Request::Open(open) => Ok(self.open(open)),
            Request::Append(_) | Request::View {} | Request::Log {} | Request::Version {} => {
                Shared(&self.log).ask(request)
            }
        }
    }
}

impl Reference {
    fn open(&mut self, open: &protocol::Open) -> Answer {
        let opened = match open.log.get() {
            Ok(events) => MemoryLog::open(events.clone()).map_err(|corruption| corruption.to_string()),
            Err(why) => Err(why.into()),
        };
        match opened {
            Ok(log) => {
                self.log = RefCell::new(log);
                Answer::Opened { version: version(&mut &self.log).0 }
            }
            Err(why) => {
                self.log = RefCell::default(); // no session is open then
                Answer::error(ErrorClass::CorruptLog, &why)
            }
        }
    }
}

fn version(log: &mut &RefCell<MemoryLog>) -> Version {
    let Ok(version) = log.version();
    version
}

/// The session while its pass waits: the same log, shared.
struct Shared<'l>(&'l RefCell<MemoryLog>);

impl Meanwhile for Shared<'_> {
    fn ask(&mut self, request: &Request) -> Result<Answer, Fault> {
        let log = &mut self.0;
        Ok(match request {
            Request::Append(Append::One { event }) => {
                let Ok(Added::Added(version) | Added::Repeated(version)) = log.append(event.clone());
                Answer::Appended { version: version.0 }
            }
            Request::Append(Append::Batch { events, expected }) => {
                let Ok(appended) = log.append_batch(events.clone(), Version(*expected));
                match appended {
                    Ok(version) => Answer::Appended { version: version.0 },
                    Err(Refused::Stale { .. }) => Answer::Refused { why: "stale".into() },
                    Err(Refused::Duplicate(_)) => Answer::Refused { why: "duplicate".into() },
                }
            }
            Request::View {} => match log.view() {
                Ok(view) => Answer::View(view.into_events()),
                Err(corrupt) => Answer::error(ErrorClass::CorruptLog, &corrupt),
            },
            Request::Log {} => {
                let Ok(events) = log.events();
                Answer::Log(events)
            }
            Request::Version {} => Answer::Version(version(log).0),
            Request::Hello(_) | Request::Compact(_) | Request::Open(_) => {
                Answer::unsupported("not while a summary is awaited")
            }
        })
    }
}

/// The log that the suite holds.
struct Held<'s>(&'s mut dyn Suite);

impl SessionLog for Held<'_> {
    type Error = Fault;

    fn version(&mut self) -> Result<Version, Fault> {
        self.0.read_version().map(Version)
    }
    fn events(&mut self) -> Result<Vec<Event>, Fault> {
        self.0.read_events()
    }
    fn append(&mut self, event: Event) -> Result<Added, Fault> {
        let expected = self.version()?;
        self.append_batch(vec![event], expected)
            .map(|done| done.map_or(Added::Repeated(expected), Added::Added))
    }
    fn append_batch(
        &mut self,
        batch: Vec<Event>,
        expected: Version,
    ) -> Result<Result<Version, Refused>, Fault> {
        let written = self.0.write(batch, expected.0)?;
        Ok(written.map(Version).ok_or(Refused::Stale { expected, found: expected }))
    }
}

/// A view that a pass may be run over, or why not.
fn checked_view(compact: &Compact, window: Window) -> Result<View<Event>, String> {
    let events = match &compact.view {
        Some(view) => view.get()?.clone(),
        None => Vec::new(),
    };
    if let Some(other) = events.iter().find(|event| event.as_message().is_none()) {
        return Err(format!(
            "event `{}` is of type `{}`, expected every event of a view to be a {}",
            other.id,
            other.type_name(),
            EventType::MESSAGE
        ));
    }
    if matches!(window, Window::Tokens(_)) {
        require_weights(&events).map_err(|invalid| invalid.to_string())?;
    }
    View::from_events(events).map_err(|invalid: InvalidView| invalid.to_string())
}

fn pass(compact: &Compact, suite: &mut dyn Suite) -> Result<Answer, Fault> {
    let window = match compact.window.get() {
        Ok(window) => *window,
        Err(why) => return Ok(Answer::error(ErrorClass::InvalidWindow, why)),
    };
    let view = match checked_view(compact, window) {
        Ok(view) => view,
        Err(why) => return Ok(Answer::error(ErrorClass::InvalidView, &why)),
    };
    let plan: Plan = view.plan(window, compact.summarizer);
    let reply = match plan.request(view.events()) {
        Some(request) => match reply(suite.summarize(call(&request), &mut Closed)?) {
            Ok(reply) => reply,
            Err(why) => return Ok(Answer::error(ErrorClass::Summarizer, &why)),
        },
        None => None,
    };
    Ok(answer(&plan.conclude(view.events(), reply), &Stamped::new("summary", 0)))
}

fn session_pass<L>(
    compact: &Compact,
    log: &RefCell<L>,
    summarize: impl FnOnce(&RefCell<L>, Call) -> Result<Said, Fault>,
) -> Result<Answer, Fault>
where
    L: SessionLog,
    CompactError<L::Error>: Into<Failure>,
{
    let window = match compact.window.get() {
        Ok(window) => *window,
        Err(why) => return Ok(Answer::error(ErrorClass::InvalidWindow, why)),
    };
    let trigger = match &compact.trigger {
        None => Trigger::Always,
        Some(trigger) => match trigger.get() {
            Ok(trigger) => trigger.clone(),
            Err(why) => return Ok(Answer::error(ErrorClass::InvalidWindow, why)),
        },
    };
    let stamp = compact.stamp.as_ref().map_or_else(
        || Stamped::new("boundary", 0),
        |stamp| Stamped::new(stamp.boundary.clone(), stamp.time_ms),
    );
    let attempt = match Attempt::begin(&mut &*log, &trigger, window, compact.summarizer) {
        Ok(attempt) => attempt,
        Err(error) => return error.into().answer(),
    };
    let reply = match attempt.request() {
        Some(request) => match reply(summarize(log, call(&request))?) {
            Ok(reply) => reply,
            Err(why) => return Ok(Answer::error(ErrorClass::Summarizer, &why)),
        },
        None => None,
    };
    match attempt.commit(&mut &*log, reply.clone(), "window", &stamp) {
        Ok(Compacted::Written(_)) => Ok(attempt
            .outcome(reply)
            .map_or_else(|| Answer::unchanged("trigger"), |outcome| answer(&outcome, &stamp))),
        Ok(Compacted::Unchanged(reason)) => Ok(Answer::unchanged(reason.as_str())),
        Ok(Compacted::NotTriggered) => Ok(Answer::unchanged("trigger")),
        Ok(Compacted::Raced) => Ok(Answer::Raced {}),
        Err(error) => error.into().answer(),
    }
}

/// A failed attempt: an answer by the rules, or no answer at all.
enum Failure {
    Answer(ErrorClass, String),
    Fault(Fault),
}

impl Failure {
    fn answer(self) -> Result<Answer, Fault> {
        match self {
            Self::Answer(class, message) => Ok(Answer::error(class, &message)),
            Self::Fault(fault) => Err(fault),
        }
    }

    fn of<E>(error: CompactError<E>, store: impl FnOnce(E) -> Self) -> Self {
        match error {
            CompactError::Store(error) => store(error),
            CompactError::Log(Corruption::View(invalid)) => {
                Self::Answer(ErrorClass::CorruptLog, invalid.to_string())
            }
            CompactError::Log(corruption) => Self::Answer(ErrorClass::CorruptLog, corruption.to_string()),
            CompactError::View(invalid) => Self::Answer(ErrorClass::InvalidView, invalid.to_string()),
            CompactError::Summarizer(never) => match never {},
            CompactError::StampUsed(id) => {
                Self::Answer(ErrorClass::Internal, format!("id `{id}` of the stamp is in the log already"))
            }
        }
    }
}

impl From<CompactError<std::convert::Infallible>> for Failure {
    fn from(error: CompactError<std::convert::Infallible>) -> Self {
        Self::of(error, |never| match never {})
    }
}

impl From<CompactError<Fault>> for Failure {
    fn from(error: CompactError<Fault>) -> Self {
        Self::of(error, Self::Fault)
    }
}

fn call(request: &SummaryRequest<'_, Event>) -> Call {
    Call { prior: request.prior.clone(), events: owned(&request.events), unreadable: None }
}

fn reply(said: Said) -> Result<Option<Summary>, String> {
    match said {
        Said::Text { text, tokens } => Ok(Some(Summary { text, tokens })),
        Said::Declined => Ok(None),
        Said::Failed(why) => Err(why),
    }
}

fn answer(outcome: &Outcome<'_, Event>, stamp: &Stamped) -> Answer {
    if let Some(reason) = outcome.unchanged {
        return Answer::unchanged(reason.as_str());
    }
    Answer::Outcome(protocol::Outcome {
        pinned: Some(owned(&outcome.pinned)),
        covered: Some(owned(&outcome.covered)),
        preserved: Some(owned(&outcome.preserved)),
        summary: Some(outcome.summary.iter().flat_map(|summary| summary.turn("window", stamp)).collect()),
        saved: Some(outcome.saved),
        overshoot: Some(outcome.overshoot),
        view: None,
    })
}

fn owned(events: &[&Event]) -> Vec<Event> {
    events.iter().map(|&event| event.clone()).collect()
}
