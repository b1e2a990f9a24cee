//! The frozen vectors: the reference answers every one as it is frozen, and none of the public reports is left out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use turnfold_conformance::{
    example, notation,
    reference::Reference,
    run::run,
    vector::{self, Vector},
};
use turnfold_spec::{RULES, Rule, documents};

/// How the reference answers a vector otherwise than it is frozen, by any of the rules it bears on.
fn fault(vector: &Vector) -> Option<String> {
    let steps = vector.steps();
    let transcript = run(&mut Reference::default(), &notation::script(&steps)).unwrap();
    let given = notation::answers(&steps, &transcript);
    // The rules differ in the lines they are about; together with these they are about every line.
    let about =
        ["result.saved", "result.overshoot", "result.covered-order", "summary.input-only", "summary.shape"];
    let rules =
        vector.rules.iter().map(String::as_str).chain(about).filter(|rule| example::speaks(rule, &given));
    rules.filter_map(|rule| example::differs(rule, &steps, &given)).map(|found| found.to_string()).next()
}

#[test]
fn the_reference_answers_every_vector() {
    let vectors = vector::all();
    let faults: Vec<String> = vectors.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), vectors.len(), faults.join("\n"));
    assert!(vectors.len() > 200, "only {} vectors are embedded", vectors.len());
}

#[test]
fn a_wrong_vector_is_found() {
    let (_, text) = documents::vectors().find(|(name, _)| name.starts_with("report.b002.")).unwrap();
    let wrong = text.replace(r#""preserved": ["U2"]"#, r#""preserved": ["A2", "U2"]"#);
    assert_ne!(text, wrong);
    assert!(fault(&vector::read(&wrong).unwrap()).is_some());
    assert!(vector::read(&text.replace("\"window\"", "\"windows\"")).is_err());
}

#[test]
fn names_are_unique_and_rules_are_rules() {
    let mut names = BTreeSet::new();
    for ((file, _), vector) in documents::vectors().zip(vector::all()) {
        assert_eq!(file, vector.name);
        assert!(names.insert(vector.name.clone()), "{} is there twice", vector.name);
        for rule in &vector.rules {
            assert!(Rule::find(rule).is_some(), "{} bears on `{rule}`, which is no rule", vector.name);
        }
    }
}

/// Rules that no vector is about first, each with the reason.
const SHOWN_OTHERWISE: [(&str, &str); 1] =
    [("summary.same-time", "a vector names what a pass wrote, and says nothing of its times")];

#[test]
fn every_rule_has_its_vector() {
    let first: BTreeSet<String> =
        vector::all().into_iter().filter_map(|vector| vector.rules.first().cloned()).collect();
    let without: Vec<&str> =
        RULES.iter().map(|rule| rule.id.as_str()).filter(|id| !first.contains(*id)).collect();
    assert_eq!(without, SHOWN_OTHERWISE.map(|(rule, _)| rule));
}

/// Reports that are no vectors: branches are out of scope, and two are about cutting a text, which no rule is about.
const LEFT_OUT: [&str; 7] = ["B099", "B101", "B102", "B103", "B104", "B116", "B117"];

/// The events that a report's expectation lists behind a word, without weights, calls and numbers of summaries.
fn listed(expected: &str, word: &str) -> Option<Vec<String>> {
    let (_, rest) = expected.split_once(&format!("{word}=["))?;
    let (list, _) = rest.split_once(']')?;
    let name = |token: &str| {
        token.trim_start_matches("syn:").split([':', '(']).next().unwrap_or_default().to_owned()
    };
    Some(list.split_whitespace().map(name).collect())
}

/// Ids as a report writes them: halves of a summary are one, and a tool result has no number.
fn as_reported(ids: &[Value]) -> Vec<String> {
    let mut names: Vec<String> = ids
        .iter()
        .filter_map(Value::as_str)
        .map(|id| {
            let name = id.trim_end_matches(".u").trim_end_matches(".a");
            if name.starts_with('T') { "T".into() } else { name.trim_start_matches('u').to_owned() }
        })
        .collect();
    names.dedup_by(|one, other| one == other && one.starts_with('M'));
    names
}

fn agrees(report: &Value, vector: &Value) -> Result<(), String> {
    let expected = report["expected"].as_str().unwrap();
    let Some(covered) = listed(expected, "covered") else { return Ok(()) };
    let found = vector["steps"]
        .as_array()
        .and_then(|steps| steps.iter().find_map(|step| step["expected"].get("outcome")))
        .or_else(|| vector["expected"].get("outcome"))
        .ok_or("the report expects a write")?;
    let plain = |names: &[String]| -> Vec<String> {
        names.iter().map(|name| if name.starts_with('T') { "T".into() } else { name.clone() }).collect()
    };
    let ids = as_reported(found["covered"].as_array().unwrap());
    if ids != plain(&covered) {
        return Err(format!("covered is {ids:?}, the report says {covered:?}"));
    }
    // B105 puts its nudge where it stood; by pin.order it is carried in front.
    if report["id"] == "B105" {
        return Ok(());
    }
    let Some(view) = listed(expected, "view") else { return Ok(()) };
    let mut next = as_reported(found["pinned"].as_array().unwrap());
    if !found["summary"].is_null() {
        next.push("M'".into());
    }
    next.extend(as_reported(found["preserved"].as_array().unwrap()));
    if next == plain(&view) { Ok(()) } else { Err(format!("the view is {next:?}, the report says {view:?}")) }
}

#[test]
fn no_public_report_is_left_out() {
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases/public-reports.jsonl");
    let Ok(text) = fs::read_to_string(&reports) else {
        println!("skipped: ../shared/cases/public-reports.jsonl is not here");
        return;
    };
    let vectors: Vec<Value> =
        documents::vectors().map(|(_, text)| serde_json::from_str(text).unwrap()).collect();
    let mut seen = 0;
    for line in text.lines() {
        let report: Value = serde_json::from_str(line).unwrap();
        let id = report["id"].as_str().unwrap();
        let prefix = format!("report.{}", id.to_lowercase());
        let named =
            |vector: &&Value| vector["name"].as_str().unwrap().split('.').take(2).eq(prefix.split('.'));
        let vector = vectors.iter().find(named);
        if LEFT_OUT.contains(&id) {
            assert!(vector.is_none(), "{id} is left out on purpose");
            continue;
        }
        let vector = vector.unwrap_or_else(|| panic!("{id} has no vector"));
        assert_eq!(vector["source"], report["url"], "{id}");
        agrees(&report, vector).unwrap_or_else(|why| panic!("{id}: {why}"));
        seen += 1;
    }
    println!("{seen} reports have their vectors");

    let report = serde_json::json!({ "id": "B000", "expected": "write=yes; covered=[U1 T(t1)]; view=[U2]" });
    let wrong = serde_json::json!({ "expected": { "outcome": { "covered": ["U1"], "pinned": [], "preserved": ["U2"] } } });
    assert!(agrees(&report, &wrong).is_err());
}
