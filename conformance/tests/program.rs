//! The program front: the reference behind it conforms as it does in process, and what goes wrong with a program is
//! told as what it is.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]

use std::{ffi::OsString, time::Duration};

use turnfold_conformance::{
    program::{Program, Start},
    report::{Report, Status, Verdict},
    subject::FaultKind,
    verify::{Options, verify},
};

fn python(source: &str) -> Vec<OsString> {
    ["python3", "-c", source].map(OsString::from).to_vec()
}

fn report_of(
    command: Vec<OsString>,
    deadline: Duration,
) -> Result<Report, turnfold_conformance::subject::Fault> {
    let options = Options { cases: 200, shrink_tries: 200, ..Options::default() };
    let mut program = Program::new(Start { deadline, restarts: 3, ..Start::new(command) });
    verify(&mut program, &options, &mut |_, _| {})
}

const HELLO: &str = r#"
import sys, json
def say(**fields): print(json.dumps(fields), flush=True)
def hello(line):
    say(id=line["id"], hello={"protocol": 1, "implementation": {"name": "t"}, "capabilities": {"windows": ["turns"]}})
for line in sys.stdin:
    line = json.loads(line)
    if "hello" in line: hello(line); continue
"#;

fn with_hello(rest: &str) -> Vec<OsString> {
    python(&format!("{HELLO}{rest}"))
}

fn fault_of(rest: &str) -> (FaultKind, String, Verdict) {
    let report = report_of(with_hello(rest), Duration::from_millis(400)).unwrap();
    let broken = report.faults.first().expect("a fault");
    (broken.kind, broken.message.clone(), report.verdict())
}

#[test]
fn always_unchanged_fails() {
    let report =
        report_of(with_hello("    say(id=line['id'], unchanged={})"), Duration::from_secs(10)).unwrap();
    assert_eq!(report.verdict(), Verdict::Fails);
    let turns = report.rules.iter().find(|rule| rule.id == "window.turns").unwrap();
    assert!(matches!(turns.status, Status::Failed(_)));
    let tokens = report.rules.iter().find(|rule| rule.id == "window.tokens").unwrap();
    assert!(matches!(tokens.status, Status::NotApplicable(_)));
}

#[test]
fn refusing_what_is_declared_fails_and_passes_nothing() {
    let report =
        report_of(with_hello("    say(id=line['id'], unsupported={'why': 'no'})"), Duration::from_secs(10))
            .unwrap();
    assert_eq!(report.verdict(), Verdict::Fails);
    assert_eq!(report.passed(), 0);
    assert_eq!(report.faults.first().map(|broken| broken.kind), Some(FaultKind::Refused));
}

#[test]
fn never_answering_is_a_timeout() {
    let (kind, message, verdict) = fault_of("    pass");
    assert_eq!((kind, verdict), (FaultKind::Timeout, Verdict::Fault), "{message}");
}

#[test]
fn ending_is_a_crash_with_its_status_and_stderr() {
    let (kind, message, _) = fault_of("    sys.stderr.write('out of luck'); sys.exit(7)");
    assert_eq!(kind, FaultKind::Crash);
    assert!(message.contains("exit code 7") && message.contains("out of luck"), "{message}");
}

#[test]
fn what_is_no_json_is_quoted() {
    let (kind, message, verdict) = fault_of("    print('thinking...', flush=True)");
    assert_eq!((kind, verdict), (FaultKind::Protocol, Verdict::Fault));
    assert!(message.contains("`thinking...`") && message.contains("stderr"), "{message}");
}

#[test]
fn another_ones_answer_is_no_answer() {
    let (kind, message, _) = fault_of("    say(id=line['id'] + 1, unchanged={})");
    assert_eq!(kind, FaultKind::Protocol);
    assert!(message.contains("expected one to"), "{message}");
}

#[test]
fn a_program_that_is_not_there_gives_no_report() {
    let fault = report_of(vec!["./no-such-program".into()], Duration::from_secs(1)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Start);
    assert!(fault.message.contains("no-such-program"), "{fault}");
}

#[test]
fn another_protocol_gives_no_report() {
    let source = HELLO.replace("\"protocol\": 1", "\"protocol\": 2");
    let fault = report_of(python(&source), Duration::from_secs(5)).unwrap_err();
    assert!(fault.message.contains("protocol 2, expected 1"), "{fault}");
}
