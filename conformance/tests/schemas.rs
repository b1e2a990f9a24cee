//! What the suite really asks, and what the reference really answers, is what the schemas of the protocol say.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{cell::RefCell, collections::BTreeSet};

use jsonschema::{Registry, Validator};
use serde_json::{Value, json};
use turnfold_conformance::{
    protocol::{Answer, Call, Greeting, Hello, Request, Said, Versions},
    reference::Reference,
    subject::{Closed, Fault, Meanwhile, Subject, Suite},
    verify::{Options, verify},
};
use turnfold_core::Event;
use turnfold_spec::documents::{SCHEMA_BASE, schemas};

fn validator(name: &str) -> Validator {
    let schema = |name: &str| -> Value {
        serde_json::from_str(schemas().iter().find(|(file, _)| *file == name).unwrap().1).unwrap()
    };
    let resources = schemas().iter().map(|(file, _)| (format!("{SCHEMA_BASE}{file}"), schema(file)));
    let registry = Registry::new().extend(resources).unwrap().prepare().unwrap();
    jsonschema::options().offline().with_registry(&registry).build(&schema(name)).unwrap()
}

/// Both directions, checked line by line.
struct Checker {
    request: Validator,
    answer: Validator,
    forms: RefCell<BTreeSet<String>>,
    faults: RefCell<Vec<String>>,
}

impl Checker {
    fn new() -> Self {
        Self {
            request: validator("request.json"),
            answer: validator("answer.json"),
            forms: RefCell::default(),
            faults: RefCell::default(),
        }
    }

    fn check(&self, validator: &Validator, mut line: Value) {
        let form = line.as_object().unwrap().keys().next().unwrap().clone();
        line.as_object_mut().unwrap().insert("id".into(), json!(1));
        if let Err(error) = validator.validate(&line) {
            self.faults.borrow_mut().push(format!("{error}: {line}"));
        }
        self.forms.borrow_mut().insert(form);
    }

    fn to_subject(&self, line: Value) {
        self.check(&self.request, line);
    }

    fn to_suite(&self, line: Value) {
        self.check(&self.answer, line);
    }
}

struct Checked<'c>(Reference, &'c Checker);

impl Subject for Checked<'_> {
    fn hello(&mut self) -> Result<Hello, Fault> {
        let greeting = Greeting { protocol: Versions { min: 1, max: 1 }, suite: "0.1.0".into() };
        self.1.to_subject(json!(Request::Hello(greeting)));
        let hello = self.0.hello()?;
        self.1.to_suite(json!(Answer::Hello(hello.clone())));
        Ok(hello)
    }

    fn ask(&mut self, request: &Request, suite: &mut dyn Suite) -> Result<Answer, Fault> {
        self.1.to_subject(json!(request));
        let answer = self.0.ask(request, &mut CheckedSuite(suite, self.1))?;
        self.1.to_suite(json!(answer));
        Ok(answer)
    }
}

struct CheckedSuite<'s, 'c>(&'s mut dyn Suite, &'c Checker);

impl Suite for CheckedSuite<'_, '_> {
    fn summarize(&mut self, call: Call, session: &mut dyn Meanwhile) -> Result<Said, Fault> {
        self.1.to_suite(json!({ "summarize": call }));
        let said = self.0.summarize(call, session)?;
        self.1.to_subject(json!({ "summary": said }));
        Ok(said)
    }
    fn read_version(&mut self) -> Result<u64, Fault> {
        self.1.to_suite(json!({ "read": "version" }));
        let version = self.0.read_version()?;
        self.1.to_subject(json!({ "version": version }));
        Ok(version)
    }
    fn read_events(&mut self) -> Result<Vec<Event>, Fault> {
        self.1.to_suite(json!({ "read": "events" }));
        let events = self.0.read_events()?;
        self.1.to_subject(json!({ "events": events }));
        Ok(events)
    }
    fn write(&mut self, events: Vec<Event>, expected: u64) -> Result<Option<u64>, Fault> {
        self.1.to_suite(json!({ "write": { "events": events, "expected": expected } }));
        self.0.write(events, expected)
    }
}

#[test]
fn every_line_of_a_run_is_of_the_schemas() {
    let checker = Checker::new();
    let options = Options { cases: 400, ..Options::default() };
    verify(&mut Checked(Reference::default(), &checker), &options, &mut |_, _| {}).unwrap();
    let faults = checker.faults.take();
    assert!(faults.is_empty(), "{} lines, such as {}", faults.len(), faults.first().unwrap());
    let forms = checker.forms.take();
    for form in [
        "append",
        "appended",
        "compact",
        "error",
        "hello",
        "log",
        "open",
        "opened",
        "outcome",
        "raced",
        "read",
        "refused",
        "summarize",
        "summary",
        "unchanged",
        "version",
        "view",
        "write",
    ] {
        assert!(forms.contains(form), "no `{form}` was seen: {forms:?}");
    }
}

#[test]
fn a_line_that_is_not_of_the_schemas_is_found() {
    let checker = Checker::new();
    checker.to_suite(json!({ "outcome": { "pinned": 3 } }));
    checker.to_subject(json!({ "compact": { "window": { "turns": 1 } } }));
    assert_eq!(checker.faults.take().len(), 2);
    let mut session = Closed;
    assert!(session.ask(&Request::Version {}).is_ok(), "a closed session answers that it is closed");
}
