//! `turnfold verify` and what stands around it, as a person runs them: what is printed and the exit codes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::process::{Command, Output, Stdio};

const TEMPLATE: &str = "../adapters/templates/python/adapter.py";

fn turnfold(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_turnfold")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_reference_passes_and_every_rule_is_named() {
    let (code, stdout, stderr) = said(&turnfold(&["verify", "--cases", "2000"]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    for rule in turnfold_spec::RULES.iter() {
        assert!(stdout.contains(&format!("✓ {} ", rule.id)), "{} is not passed: {stdout}", rule.id);
    }
    let last = stdout.lines().last().unwrap();
    assert_eq!(last, format!("{} passed, 0 failed", turnfold_spec::RULES.len()));
    assert!(!stdout.contains('\u{1b}'), "colour is for terminals");
}

#[test]
fn the_same_seed_makes_the_same_report() {
    let report = |seed: &str| {
        let output = turnfold(&["verify", "--json", "--cases", "500", "--seed", seed]);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    assert_eq!(report("7"), report("7"));
    assert_ne!(report("7"), report("8"));
}

#[test]
fn the_naive_template_fails_with_small_sessions_that_replay() {
    let arguments = ["verify", "--json", "--cases", "2000", "--", "python3", TEMPLATE];
    let (code, stdout, stderr) = said(&turnfold(&arguments));
    assert_eq!(code, 1, "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["verdict"], "fails");
    assert!(report["failed"].as_u64().unwrap() > 0);
    let failed: Vec<(&str, &serde_json::Value)> = report["rules"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|rule| rule["standing"] != "chosen")
        .filter_map(|rule| Some((rule["id"].as_str()?, rule["status"].get("failed")?)))
        .collect();
    for naive in ["pin.superseded-leaves", "pin.preamble", "turn.whole", "turn.newest", "cut.forward"] {
        assert!(failed.iter().any(|(id, _)| *id == naive), "{naive} passed");
    }
    for (id, failure) in &failed {
        assert!(failure["events"].as_u64().unwrap() <= 8, "{id}: {failure}");
        assert_eq!(failure["reproduced"], true, "{id}");
    }
    let (id, failure) = failed.iter().find(|(_, failure)| failure["replays"] == true).unwrap();
    let session: Vec<&str> =
        failure["steps"].as_array().unwrap().iter().filter_map(|step| step.as_str()).collect();
    let (code, stdout, _) =
        said(&turnfold(&["replay", &session.join("; "), "--rule", id, "--", "python3", TEMPLATE]));
    assert_eq!(code, 1);
    assert!(stdout.contains(&format!("✗ {id}")), "{stdout}");
}

#[test]
fn the_reference_as_a_program_says_what_it_says_in_process() {
    let program = env!("CARGO_BIN_EXE_turnfold");
    let report = |arguments: &[&str]| {
        let output = turnfold(&[&["verify", "--json", "--cases", "1000"], arguments].concat());
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    assert_eq!(report(&[]), report(&["--", program, "reference"]));
}

#[test]
fn a_rule_or_a_family_is_judged_alone() {
    let (code, stdout, _) =
        said(&turnfold(&["verify", "--rule", "pin", "--rule", "cut.forward", "--cases", "300"]));
    assert_eq!(code, 0);
    assert!(stdout.contains("✓ pin.order") && stdout.contains("✓ cut.forward"), "{stdout}");
    assert!(!stdout.contains("write.fits"), "{stdout}");
}

#[test]
fn too_few_cases_are_no_pass() {
    let (code, stdout, _) = said(&turnfold(&["verify", "--rule", "nothing.here"]));
    assert_eq!(code, 64, "{stdout}");
}

#[test]
fn usage_is_told_with_64_and_help_with_0() {
    for (arguments, code, says) in [
        (&["verify", "--cases", "many"][..], 64, "many"),
        (&["sing"][..], 64, "sing"),
        (&["explain", "pin.preambel"][..], 64, "did you mean `pin.preamble`?"),
        (&["replay", "pass U1 | words 1"][..], 64, "window `words 1`"),
        (&["replay", ""][..], 64, "no operation"),
        (&["--help"][..], 0, "verify"),
        (&["--version"][..], 0, "turnfold"),
        (&["verify", "--", "./no-such-program"][..], 3, "no-such-program"),
    ] {
        let (found, stdout, stderr) = said(&turnfold(arguments));
        assert_eq!(found, code, "{arguments:?}: {stdout}{stderr}");
        assert!(stdout.contains(says) || stderr.contains(says), "{arguments:?}: {stdout}{stderr}");
    }
}

#[test]
fn the_rule_book_is_at_hand() {
    let (code, stdout, _) = said(&turnfold(&["explain", "cut.forward"]));
    assert_eq!(code, 0);
    assert!(stdout.contains("documented") && stdout.contains("pass "), "{stdout}");
    let (_, listed, _) = said(&turnfold(&["rules"]));
    let (_, json, _) = said(&turnfold(&["rules", "--json"]));
    let rules: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(rules.len(), turnfold_spec::RULES.len());
    assert!(turnfold_spec::RULES.iter().all(|rule| listed.contains(&rule.id)));
}

#[test]
fn smoke_passes_for_the_template_and_fails_for_an_adapter_that_is_none() {
    let (code, stdout, stderr) = said(&turnfold(&["smoke", "--", "python3", TEMPLATE]));
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert_eq!(stdout.lines().last().unwrap(), "5 passed, 0 failed");
    let (code, _, stderr) = said(&turnfold(&["smoke", "--", "cat"]));
    assert_eq!(code, 3, "an echo is no answer: {stderr}");
}

#[test]
fn replay_shows_what_is_right() {
    let (code, stdout, _) = said(&turnfold(&["replay", "pass A1 U1 A2 U2 | turns 1"]));
    assert_eq!(code, 0);
    assert!(stdout.contains("pinned A1\n  covered U1 A2\n  preserved U2"), "{stdout}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let shell = format!(
        "'{}' rules | head -n 1; '{}' explain cut.forward | true",
        env!("CARGO_BIN_EXE_turnfold"),
        env!("CARGO_BIN_EXE_turnfold")
    );
    let output = Command::new("sh").args(["-c", &shell]).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
