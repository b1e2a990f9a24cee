//! A copy of the reference that is broken on purpose fails, and shows a session of a few events.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use turnfold_conformance::{
    protocol::{Answer, Append, Hello, Request},
    reference::Reference,
    report::{Oracle, Report, Status, Verdict},
    subject::{Fault, Subject, Suite},
    verify::{Options, verify},
};

/// Changes the outcomes of the reference.
struct Broken(Reference, fn(&mut turnfold_conformance::protocol::Outcome));

impl Subject for Broken {
    fn hello(&mut self) -> Result<Hello, Fault> {
        self.0.hello()
    }

    fn ask(&mut self, request: &Request, suite: &mut dyn Suite) -> Result<Answer, Fault> {
        let mut answer = self.0.ask(request, suite)?;
        if let (Request::Compact(_), Answer::Outcome(outcome)) = (request, &mut answer) {
            (self.1)(outcome);
        }
        Ok(answer)
    }
}

fn report_of(break_it: fn(&mut turnfold_conformance::protocol::Outcome)) -> Report {
    let options = Options { cases: 2_000, ..Options::default() };
    verify(&mut Broken(Reference::default(), break_it), &options, &mut |_, _| {}).unwrap()
}

fn failed(report: &Report) -> Vec<(&str, usize)> {
    report
        .rules
        .iter()
        .filter_map(|rule| match &rule.status {
            Status::Failed(failure) => Some((rule.id.as_str(), failure.events)),
            _ => None,
        })
        .collect()
}

#[test]
fn cut_one_event_too_late() {
    let report = report_of(|outcome| {
        if let (Some(preserved), Some(covered)) = (&mut outcome.preserved, &mut outcome.covered)
            && !preserved.is_empty()
        {
            covered.push(preserved.remove(0));
        }
    });
    assert_eq!(report.verdict(), Verdict::Fails);
    let failed = failed(&report);
    for rule in ["turn.newest", "cut.leaves", "result.suffix"] {
        let (_, events) =
            failed.iter().find(|(id, _)| *id == rule).unwrap_or_else(|| panic!("{rule} passed"));
        assert!(*events <= 4, "{rule} is shown with {events} events");
    }
    for rule in &report.rules {
        if let Status::Failed(failure) = &rule.status {
            assert!(failure.reproduced, "{}", rule.id);
            assert!(!failure.why.is_empty() && !failure.steps.is_empty(), "{}", rule.id);
        }
    }
}

#[test]
fn all_that_was_covered_stays() {
    let report = report_of(|outcome| {
        if let (Some(preserved), Some(covered)) = (&mut outcome.preserved, &mut outcome.covered) {
            preserved.splice(0..0, covered.drain(..));
        }
    });
    assert_eq!(report.verdict(), Verdict::Fails);
    assert!(failed(&report).iter().any(|(id, _)| *id == "cut.smallest"));
}

#[test]
fn a_chosen_rule_fails_under_strict_alone() {
    let overshooting = |outcome: &mut turnfold_conformance::protocol::Outcome| {
        outcome.overshoot = outcome.overshoot.map(|tokens| tokens + 1);
    };
    let mut report = report_of(overshooting);
    assert_eq!(failed(&report).iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["result.overshoot"]);
    assert_eq!(report.verdict(), Verdict::Conforms);
    report.strict = true;
    assert_eq!(report.verdict(), Verdict::Fails);
}

/// Refuses every batch, which no property speaks of.
struct Refusing(Reference);

impl Subject for Refusing {
    fn hello(&mut self) -> Result<Hello, Fault> {
        self.0.hello()
    }

    fn ask(&mut self, request: &Request, suite: &mut dyn Suite) -> Result<Answer, Fault> {
        match request {
            Request::Append(Append::Batch { .. }) => Ok(Answer::Refused { why: "stale".into() }),
            _ => self.0.ask(request, suite),
        }
    }
}

#[test]
fn what_no_property_sees_a_written_answer_shows() {
    let options = Options { cases: 500, strict: true, ..Options::default() };
    let report = verify(&mut Refusing(Reference::default()), &options, &mut |_, _| {}).unwrap();
    assert_eq!(report.verdict(), Verdict::Fails);
    let found = report.rules.iter().filter_map(|rule| match &rule.status {
        Status::Failed(failure) => Some(failure.oracle),
        _ => None,
    });
    assert!(found.clone().all(|oracle| oracle != Oracle::Property), "a property speaks of it after all");
    assert!(found.count() > 0);
}
