//! `turnfold compact` on fixtures: what a person sees, and what is given back.

use std::{
    error::Error,
    io::Write,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

type Tested = Result<(), Box<dyn Error>>;

/// A window that keeps everything.
const ALL: [&str; 4] = ["--last-turns", "1000000", "--tokenizer", "chars"];

fn compact(arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    said(Command::new(env!("CARGO_BIN_EXE_turnfold")).arg("compact").args(arguments).output_plain(None)?)
}

fn compact_text(text: &str, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnfold"));
    said(command.args(["compact", "-"]).args(arguments).output_plain(Some(text))?)
}

fn said(output: Output) -> Result<String, Box<dyn Error>> {
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(String::from_utf8(output.stderr)?.into())
    }
}

trait OutputPlain {
    fn output_plain(&mut self, input: Option<&str>) -> std::io::Result<Output>;
}

impl OutputPlain for Command {
    /// Runs it among the fixtures, without colour.
    fn output_plain(&mut self, input: Option<&str>) -> std::io::Result<Output> {
        self.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"));
        self.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE").env_remove("COLUMNS");
        self.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.unwrap_or_default().as_bytes())?;
        }
        child.wait_with_output()
    }
}

fn fixture(name: &str) -> Result<String, Box<dyn Error>> {
    Ok(std::fs::read_to_string(format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR")))?)
}

fn json(text: &str) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(text)?)
}

/// Without colour and at a fixed width.
macro_rules! picture {
    ($name:literal, $($argument:expr),+) => {
        insta::assert_snapshot!($name, compact(&[$($argument),+])?);
    };
}

#[test]
fn the_picture_of_a_cutting_pass() -> Tested {
    picture!("strip-openai-chat-last-turns", "openai-chat.json", "--last-turns", "2", "--width", "80");
    picture!("strip-anthropic-last-events", "anthropic-blocks.json", "--last-events", "6", "--width", "60");
    picture!("strip-log-token-budget", "session.jsonl", "--token-budget", "30", "--width", "80");
    Ok(())
}

#[test]
fn the_picture_of_a_pass_that_changes_nothing() -> Tested {
    picture!("strip-unchanged", "messages.jsonl", "--last-turns", "9", "--width", "80");
    Ok(())
}

#[test]
fn the_picture_of_an_overdrawn_budget() -> Tested {
    picture!("strip-overdrawn", "openai-chat.json", "--token-budget", "1", "--explain", "--width", "80");
    Ok(())
}

#[test]
fn the_picture_of_a_session_too_long_for_its_events() -> Tested {
    let session = |turns: usize, length: usize| {
        let mut messages = vec![r#"{"role":"system","content":"be brief"}"#.to_owned()];
        for turn in 0..turns {
            messages.push(format!(r#"{{"role":"user","content":"{}"}}"#, "why? ".repeat(turn % 7)));
            for at in 1..length {
                let words = "so ".repeat((turn * length + at) * 7 % 40);
                messages.push(format!(r#"{{"role":"assistant","content":"{words}"}}"#));
            }
        }
        messages.join("\n")
    };
    let picture = |turns, length, window: [&str; 2]| {
        compact_text(
            &session(turns, length),
            &[window.as_slice(), &["--width", "80", "--tokenizer", "chars"]].concat(),
        )
    };
    insta::assert_snapshot!("strip-several-events-a-cell", picture(6, 40, ["--last-events", "90"])?);
    insta::assert_snapshot!("strip-several-turns-a-cell", picture(400, 3, ["--token-budget", "30000"])?);
    Ok(())
}

#[test]
fn many_dialogues_are_a_line_each() -> Tested {
    picture!("overview", "dialogues.json", "--last-turns", "2", "--width", "80");
    picture!("overview-chosen", "dialogues.json", "--last-turns", "2", "--dialogue", "2", "--width", "80");
    Ok(())
}

#[test]
fn a_table_has_a_row_an_event() -> Tested {
    picture!(
        "table-openai-chat",
        "openai-chat.json",
        "--last-turns",
        "2",
        "--format",
        "table",
        "--width",
        "100"
    );
    picture!(
        "table-anthropic",
        "anthropic-blocks.json",
        "--last-turns",
        "2",
        "--format",
        "table",
        "--width",
        "80"
    );
    Ok(())
}

#[test]
fn explanations_name_the_rules() -> Tested {
    for (name, file, window) in [
        ("explain-last-events", "openai-chat.json", ["--last-events", "7"]),
        ("explain-last-turns", "openai-chat.json", ["--last-turns", "1"]),
        ("explain-token-budget", "session.jsonl", ["--token-budget", "30"]),
        ("explain-newest-alone", "openai-chat.json", ["--last-events", "1"]),
        ("explain-fits", "openai-chat.json", ["--last-turns", "4"]),
    ] {
        let text = compact(&[&[file], window.as_slice(), &["--explain", "--width", "80"]].concat())?;
        insta::assert_snapshot!(name, text);
    }
    Ok(())
}

#[test]
fn a_report_holds_every_event_with_its_place() -> Tested {
    let text = compact(&["session.jsonl", "--last-turns", "1", "--format", "json", "--explain"])?;
    insta::assert_snapshot!("report-log", text);
    Ok(())
}

#[test]
fn what_is_read_is_given_back() -> Tested {
    for (file, format) in [
        ("openai-chat.json", "openai"),
        ("openai-parts.json", "openai"),
        ("anthropic-blocks.json", "anthropic"),
        ("dialogues.json", "openai"),
    ] {
        let text = compact(&[&[file, "--format", format], ALL.as_slice()].concat())?;
        assert_eq!(json(&text)?, json(&fixture(file)?)?, "{file}");
    }
    Ok(())
}

#[test]
fn what_is_read_is_given_back_after_a_stay_in_a_log() -> Tested {
    for (file, format) in [
        ("openai-chat.json", "openai"),
        ("openai-parts.json", "openai"),
        ("anthropic-blocks.json", "anthropic"),
    ] {
        let lines = compact(&[&[file, "--format", "jsonl"], ALL.as_slice()].concat())?;
        let given = json(&compact_text(&lines, &[&["--format", format], ALL.as_slice()].concat())?)?;
        let came = json(&fixture(file)?)?;
        let messages = |value: &Value| value.get("messages").unwrap_or(value).clone();
        assert_eq!(messages(&given), messages(&came), "{file}");
        assert_eq!(given.get("system"), came.get("system"), "{file}");
    }
    Ok(())
}

#[test]
fn kept_messages_are_given_back_and_what_stood_around_them() -> Tested {
    let text = compact(&["anthropic-blocks.json", "--last-turns", "2", "--format", "anthropic"])?;
    let (given, came) = (json(&text)?, json(&fixture("anthropic-blocks.json")?)?);
    for field in ["model", "max_tokens", "system"] {
        assert_eq!(given[field], came[field]);
    }
    let (kept, all) =
        (given["messages"].as_array().ok_or("a list")?, came["messages"].as_array().ok_or("a list")?);
    assert_eq!(kept.as_slice(), &all[all.len() - 3..]);

    let text = compact(&["openai-chat.json", "--last-turns", "1", "--format", "openai"])?;
    let (given, came) = (json(&text)?, json(&fixture("openai-chat.json")?)?);
    assert_eq!(given, Value::from([11, 1, 16, 17].map(|at: usize| came[at].clone()).to_vec()));
    Ok(())
}

#[test]
fn lines_of_a_log_stay_as_they_came() -> Tested {
    let lines = compact(&["session.jsonl", "--last-turns", "1", "--format", "jsonl"])?;
    let came = fixture("session.jsonl")?;
    assert_eq!(lines.lines().count(), 5);
    for line in lines.lines() {
        assert!(came.lines().any(|came| came == line), "{line}");
    }
    Ok(())
}

#[test]
fn what_another_format_cant_express_is_counted() -> Tested {
    let losses = |file: &str, format: &str| -> Result<String, Box<dyn Error>> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnfold"));
        let output = command.args(["compact", file, "--format", format]).args(ALL).output_plain(None)?;
        let told = String::from_utf8(output.stderr)?;
        Ok(told.lines().filter(|line| line.contains("not expressible")).collect())
    };
    insta::assert_snapshot!("losses-openai-to-anthropic", losses("openai-parts.json", "anthropic")?);
    insta::assert_snapshot!("losses-anthropic-to-openai", losses("anthropic-blocks.json", "openai")?);
    insta::assert_snapshot!("losses-log-to-openai", losses("session.jsonl", "openai")?);
    assert_eq!(losses("openai-parts.json", "openai")?, "");
    assert_eq!(losses("anthropic-blocks.json", "anthropic")?, "");
    Ok(())
}

#[test]
fn conversions_are_stable() -> Tested {
    for (file, format) in [
        ("openai-chat.json", "anthropic"),
        ("anthropic-blocks.json", "openai"),
        ("session.jsonl", "anthropic"),
    ] {
        let once = compact(&[&[file, "--format", format], ALL.as_slice()].concat())?;
        let twice = compact_text(&once, &[&["--format", format], ALL.as_slice()].concat())?;
        assert_eq!(json(&once)?, json(&twice)?, "{file}");
    }
    insta::assert_snapshot!(
        "openai-to-anthropic",
        compact(&["openai-chat.json", "--last-turns", "2", "--format", "anthropic"])?
    );
    Ok(())
}

#[test]
fn the_form_is_detected_whatever_holds_the_messages() -> Tested {
    let chat = r#"{"role":"user","content":"x"}"#;
    let blocks = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#;
    for (text, format, dialogues) in [
        (format!("[{chat}]"), "openai", 1),
        (format!("{chat}\n{chat}\n"), "openai", 1),
        (chat.to_owned(), "openai", 1),
        (format!(r#"{{"history":[{chat}],"trajectory":[{{"action":"ls"}}]}}"#), "openai", 1),
        (format!(r#"{{"trajectory":[{chat}],"messages":[]}}"#), "openai", 1),
        (format!(r#"[{{"traj":[{chat}]}},{{"messages":[]}}]"#), "openai", 2),
        (format!("[[{chat}],[{chat}]]"), "openai", 2),
        (format!("[{chat}]\n[{chat}]"), "openai", 2),
        (format!("{{\"messages\":[{chat}]}}\n\n{{\"messages\":[{chat}]}}\n"), "openai", 2),
        (format!("\u{feff}[{chat}]"), "openai", 1),
        (format!("[{blocks}]"), "anthropic", 1),
        (format!(r#"{{"system":"brief","messages":[{chat}]}}"#), "anthropic", 1),
        (format!("[[{chat}],[{blocks}]]"), "anthropic", 2),
        (format!(r#"[{{"role":"system","content":"brief"}},{blocks}]"#), "anthropic", 1),
        (format!(r#"[{{"role":"tool","content":"x"}},{blocks}]"#), "openai", 1),
        (r#"{"id":"e1","role":"user","text":"x"}"#.into(), "jsonl", 1),
        ("[]".into(), "openai", 1),
    ] {
        let report =
            json(&compact_text(&text, &["--last-turns", "1", "--format", "json", "--tokenizer", "chars"])?)?;
        let reports = report.as_array().cloned().unwrap_or_else(|| vec![report]);
        assert_eq!(reports.len(), dialogues, "{text}");
        assert!(reports.iter().all(|report| report["format"] == format), "{text}");
    }
    Ok(())
}

#[test]
fn odd_histories_are_normal() -> Tested {
    let nested = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    for odd in [
        r#"{"role":"tool","tool_call_id":"nobody","content":"x"}"#.to_owned(),
        r#"{"role":"assistant","tool_calls":[{"id":"a","function":{}},{"id":"a","function":{}}]}"#.into(),
        r#"{"role":"assistant","content":null}"#.into(),
        r#"{"role":"assistant"}"#.into(),
        r#"{"role":"user","content":[]}"#.into(),
        format!(r#"{{"role":"user","content":[{{"type":"later","deep":{nested}}}]}}"#),
    ] {
        let text = format!(r#"[{{"role":"user","content":"a"}},{odd},{{"role":"user","content":"b"}}]"#);
        let given = json(&compact_text(&text, &[&["--format", "openai"], ALL.as_slice()].concat())?)?;
        assert_eq!(given, json(&text)?);
        for format in ["strip", "table", "json", "jsonl", "anthropic"] {
            compact_text(
                &text,
                &["--last-turns", "1", "--format", format, "--explain", "--tokenizer", "chars"],
            )?;
        }
    }
    Ok(())
}

#[test]
fn weights_of_events_win_over_the_tokenizer() -> Tested {
    let lines = "{\"id\":\"a\",\"role\":\"user\",\"text\":\"long long long\",\"tokens\":1}\n{\"id\":\"b\",\"role\":\"user\",\"text\":\"é\"}";
    let report =
        json(&compact_text(lines, &["--token-budget", "6", "--tokenizer", "chars", "--format", "json"])?)?;
    assert_eq!(report["before"]["tokens"], 1 + 4 + 1);
    assert_eq!(report["unchanged"], "fits");
    Ok(())
}
