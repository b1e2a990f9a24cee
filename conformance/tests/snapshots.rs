//! The snapshots: `cases/<rule>.txt` holds sessions without answers, `snapshots/<rule>.snap` the same sessions as the
//! reference answers them, reviewed. Whoever edits a case, a rule's sentence or the reference sees here what changes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use insta::{Settings, assert_snapshot};
use turnfold_conformance::{
    notation::{self, Step},
    reference::Reference,
    run::run,
    snapshot,
};
use turnfold_spec::{RULES, Rule};

const CASES: &str = "cases";
const SNAPSHOTS: &str = "snapshots";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn file_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

fn rule_ids() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.id.as_str()).collect()
}

/// What is wrong with a folder that has to hold one file for every rule and nothing else.
fn strays(names: &[String], rules: &[&str], extension: &str) -> Vec<String> {
    let must: BTreeSet<String> = rules.iter().map(|rule| format!("{rule}.{extension}")).collect();
    let holds: BTreeSet<String> = names.iter().cloned().collect();
    let missing = must.difference(&holds).map(|name| format!("`{name}` is missing"));
    let extra = holds.difference(&must).map(|name| {
        if name.ends_with(".snap.new") || name.ends_with(".pending-snap") {
            format!("`{name}` waits for a review: accept it or delete it")
        } else {
            format!("`{name}` belongs to no rule: delete it or name it for a rule")
        }
    });
    missing.chain(extra).collect()
}

/// One session of a case file.
#[derive(Debug)]
struct Case {
    comment: String,
    steps: Vec<Step>,
}

/// Reads a case file: sessions parted by a blank line, each a comment of one line and operations.
fn cases(text: &str) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for session in text.trim_end().split("\n\n") {
        let (comment, operations) = session.split_once('\n').unwrap_or((session, ""));
        if !comment.starts_with("# ") || operations.contains('#') {
            return Err(format!(
                "session `{comment}`: expected one line `# …` that says what it shows, then operations"
            ));
        }
        let steps = notation::read(operations).map_err(|error| format!("session `{comment}`: {error}"))?;
        if steps.is_empty() {
            return Err(format!("session `{comment}`: no operation, expected one at least"));
        }
        if let Some(step) = steps.iter().find(|step| !step.answer.is_empty()) {
            return Err(format!(
                "session `{comment}`: `{}` has an answer, expected none: the snapshot has them",
                step.line
            ));
        }
        cases.push(Case { comment: comment.into(), steps });
    }
    Ok(cases)
}

fn cases_of(rule: &Rule) -> Vec<Case> {
    let path = folder(CASES).join(format!("{}.txt", rule.id));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    cases(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The session with the reference's answers, in the notation.
fn answered(case: &Case) -> String {
    let transcript = run(&mut Reference::default(), &notation::script(&case.steps))
        .unwrap_or_else(|fault| panic!("session `{}`: {fault}", case.comment));
    let mut lines = vec![case.comment.clone()];
    for (step, answer) in case.steps.iter().zip(notation::answers(&case.steps, &transcript)) {
        lines.push(step.line.clone());
        lines.extend(answer.iter().map(|line| format!("  {line}")));
    }
    lines.join("\n")
}

fn body(rule: &Rule) -> String {
    cases_of(rule).iter().map(answered).collect::<Vec<_>>().join("\n\n")
}

/// Compares with the reviewed snapshot; what differs is left beside it for a review.
fn assert_reviewed(rule: &Rule, body: &str) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(Path::new("..").join(SNAPSHOTS));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(rule.sentence.as_str());
    settings.bind(|| assert_snapshot!(rule.id.as_str(), body));
}

#[test]
fn every_rule_has_a_case_file_and_every_case_file_a_rule() {
    let strays = strays(&file_names(&folder(CASES)), &rule_ids(), "txt");
    assert!(strays.is_empty(), "in `{CASES}`:\n{}", strays.join("\n"));
}

#[test]
fn the_reference_answers_as_reviewed() {
    let changed: Vec<&str> = RULES
        .iter()
        .filter(|rule| catch_unwind(AssertUnwindSafe(|| assert_reviewed(rule, &body(rule)))).is_err())
        .map(|rule| rule.id.as_str())
        .collect();
    assert!(
        changed.is_empty(),
        "{} of {} rules have cases that are not answered as reviewed, see above: {}",
        changed.len(),
        RULES.len(),
        changed.join(", ")
    );
}

#[test]
fn no_snapshot_is_pending_or_without_a_rule() {
    let strays = strays(&file_names(&folder(SNAPSHOTS)), &rule_ids(), "snap");
    assert!(strays.is_empty(), "in `{SNAPSHOTS}`:\n{}", strays.join("\n"));
}

/// A session that the suite could not read would not be compared with any subject, and nobody would notice.
#[test]
fn the_suite_reads_every_session_of_every_snapshot() {
    let embedded = snapshot::all();
    for rule in RULES.iter() {
        let path = folder(SNAPSHOTS).join(format!("{}.snap", rule.id));
        let file = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let written: Vec<Vec<Step>> = cases_of(rule)
            .iter()
            .map(|case| notation::read(&answered(case)).unwrap_or_else(|error| panic!("{error}")))
            .collect();
        assert_eq!(snapshot::sessions(&file), written, "{}", path.display());
        let own: Vec<Vec<Step>> =
            embedded.iter().filter(|(id, _)| *id == rule.id).map(|(_, steps)| steps.clone()).collect();
        assert_eq!(
            own,
            written,
            "{}: the suite holds an older one, touch `src/snapshot.rs` to have it embedded",
            path.display()
        );
    }
}

#[test]
fn a_header_is_no_session_whatever_the_sentence_says() {
    let file = "---\nsource: conformance/tests/snapshots.rs\ndescription: \"A pass --- or\\n---\\nnone: `A1`, # or \
                \\\"M1\\\".\"\n---\n# First.\npass U1 | turns 1\n  unchanged\n\n# Second.\nview\n  -\n";
    let lines: Vec<Vec<String>> = snapshot::sessions(file)
        .iter()
        .map(|steps| steps.iter().map(|step| format!("{} {}", step.line, step.answer.join(" "))).collect())
        .collect();
    assert_eq!(lines, [["pass U1 | turns 1 unchanged"], ["view -"]]);
}

#[test]
fn files_that_do_not_match_the_rules_are_named() {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let rules = ["cut.leaves", "turn.start"];
    assert_eq!(strays(&names(&["turn.start.snap", "cut.leaves.snap"]), &rules, "snap"), [""; 0]);
    assert_eq!(
        strays(
            &names(&[
                "cut.leaves.snap",
                "cut.leaves.snap.new",
                ".cases.rs.pending-snap",
                "cut.gone.snap",
                "turn.start.txt"
            ]),
            &rules,
            "snap"
        ),
        [
            "`turn.start.snap` is missing",
            "`.cases.rs.pending-snap` waits for a review: accept it or delete it",
            "`cut.gone.snap` belongs to no rule: delete it or name it for a rule",
            "`cut.leaves.snap.new` waits for a review: accept it or delete it",
            "`turn.start.txt` belongs to no rule: delete it or name it for a rule",
        ]
    );
    assert_eq!(
        strays(&names(&["cut.leaves.txt", "README.md"]), &rules, "txt"),
        ["`turn.start.txt` is missing", "`README.md` belongs to no rule: delete it or name it for a rule"]
    );
}

#[test]
fn case_files_that_are_not_in_the_form_are_refused() {
    for (text, says) in [
        ("pass U1 | turns 1\n", "expected one line `# …`"),
        ("# One.\n# Two.\npass U1 | turns 1\n", "expected one line `# …`"),
        ("# One.\n", "no operation"),
        ("# One.\npass U1 | turns 1\n  unchanged\n", "`pass U1 | turns 1` has an answer"),
        ("# One.\npass U1 | turns 1\n\n# Two.\njump\n", "session `# Two.`: line 1: operation `jump`"),
    ] {
        let why = cases(text).unwrap_err();
        assert!(why.contains(says), "{text}: {why}");
    }
}
