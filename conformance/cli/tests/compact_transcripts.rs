//! `turnfold compact` on real transcripts, where they are at hand: every result is held against the rules by what the
//! file itself says, without the help of the implementation.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

type Checked = Result<(), Box<dyn Error>>;

/// The transcripts that are in a format this command reads. Every other file has to be refused.
const READ: [&str; 4] = [
    "mini-swe-agent/django__django-16560.traj.json",
    "mini-swe-agent/github_issue.traj.json",
    "swe-agent-traj/marshmallow-1867-function_calling_replace_from_source.traj",
    "tau-bench/gpt-4o-airline.json",
];

/// Where a window counts no tokens, characters are the cheapest.
const WINDOWS: [[&str; 4]; 7] = [
    ["--last-events", "1", "--tokenizer", "chars"],
    ["--last-events", "9", "--tokenizer", "chars"],
    ["--last-turns", "1", "--tokenizer", "chars"],
    ["--last-turns", "4", "--tokenizer", "chars"],
    ["--token-budget", "1", "--tokenizer", "o200k"],
    ["--token-budget", "2500", "--tokenizer", "o200k"],
    ["--token-budget", "12000", "--tokenizer", "cl100k"],
];

/// The folder of the transcripts, if there is one; says so where there isn't.
#[expect(clippy::print_stdout, reason = "who runs the test is to know that it was skipped")]
fn transcripts() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if folder.is_dir() {
        return fs::canonicalize(folder).ok();
    }
    println!("skipped: no transcripts at {}", folder.display());
    None
}

fn compact(file: &str, input: Option<&str>, arguments: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnfold"));
    command.args(["compact", file]).args(arguments).env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.unwrap_or_default().as_bytes())?;
    }
    child.wait_with_output()
}

fn printed(file: &str, input: Option<&str>, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = compact(file, input, arguments)?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("{file} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files(&path, found)? } else { found.push(path) }
    }
    Ok(())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The dialogues of a file: its list of messages, that under `messages` or `history`, or those under each item's `traj`.
fn dialogues(file: &Value) -> Vec<&[Value]> {
    let under = |value: &'_ Value, name: &str| value.get(name).is_some();
    match file {
        Value::Array(items) if items.iter().all(|item| under(item, "traj")) => {
            items.iter().map(|item| list(&item["traj"])).collect()
        }
        Value::Object(_) if under(file, "history") => vec![list(&file["history"])],
        Value::Object(_) => vec![list(&file["messages"])],
        _ => vec![list(file)],
    }
}

fn one_or_more(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        value => vec![value],
    }
}

/// The positions of a part of a report, from 0.
fn positions(report: &Value, part: &str) -> Vec<usize> {
    let position = |entry: &Value| entry["position"].as_u64().and_then(|at| usize::try_from(at).ok());
    list(&report[part]).iter().filter_map(position).map(|at| at.saturating_sub(1)).collect()
}

/// A report held against the messages it is about.
struct Held<'h> {
    messages: &'h [Value],
    report: &'h Value,
    pinned: Vec<usize>,
    covered: Vec<usize>,
    preserved: Vec<usize>,
}

impl<'h> Held<'h> {
    fn new(messages: &'h [Value], report: &'h Value) -> Self {
        let [pinned, covered, preserved] =
            ["pinned", "covered", "preserved"].map(|part| positions(report, part));
        Self { messages, report, pinned, covered, preserved }
    }

    fn role(&self, at: usize) -> &str {
        self.messages.get(at).and_then(|message| message["role"].as_str()).unwrap_or_default()
    }

    fn is_cut(&self) -> bool {
        self.report["unchanged"].is_null()
    }

    fn turns(&self, positions: &[usize]) -> usize {
        positions.iter().filter(|at| self.role(**at) == "user").count()
    }

    fn number(&self, of: &str, what: &str) -> u64 {
        self.report.get(of).and_then(|of| of.get(what)).and_then(Value::as_u64).unwrap_or_default()
    }

    fn partition(&self) {
        let mut all = [self.pinned.as_slice(), &self.covered, &self.preserved].concat();
        all.sort_unstable();
        assert_eq!(all, (0..self.messages.len()).collect::<Vec<_>>(), "result.partition");
        assert!(self.covered.is_sorted(), "result.covered-order");
        assert!(self.preserved.is_sorted(), "result.partition: preserved keeps view order");
        if !self.is_cut() {
            assert_eq!(self.preserved.len(), self.messages.len(), "result.next-view");
        }
    }

    fn pins(&self) {
        if !self.is_cut() {
            return;
        }
        let systems: Vec<usize> = (0..self.messages.len()).filter(|at| self.role(*at) == "system").collect();
        assert_eq!(self.pinned.first(), systems.last(), "pin.system-prompt");
        let first_turn = (0..self.messages.len()).find(|at| self.role(*at) == "user");
        let preamble = (0..first_turn.unwrap_or(0)).filter(|at| self.role(*at) != "system");
        assert!(self.pinned.iter().skip(1).copied().eq(preamble), "pin.preamble");
    }

    fn keeps_whole_turns(&self) {
        let newest = (0..self.messages.len()).rfind(|at| self.role(*at) == "user");
        assert!(newest.is_none_or(|at| self.preserved.contains(&at)), "turn.newest");
        let Some(first) = self.preserved.first().filter(|_| self.is_cut()) else { return };
        assert_eq!(self.role(*first), "user", "result.suffix: begins at a turn start");
        let suffix = (*first..self.messages.len()).filter(|at| self.role(*at) != "system");
        assert!(self.preserved.iter().copied().eq(suffix), "result.suffix");
        assert!(self.turns(&self.covered) > 0, "write.fits");
    }

    /// No response is preserved without its call, unless it came without one.
    fn keeps_pairs(&self) {
        let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
        let kept: BTreeSet<usize> = self.pinned.iter().chain(&self.preserved).copied().collect();
        for (at, message) in self.messages.iter().enumerate() {
            for call in list(&message["tool_calls"]) {
                calls.insert(call["id"].as_str().unwrap_or_default(), at);
            }
            let id = message["tool_call_id"]
                .as_str()
                .or_else(|| list(&message["tool_call_ids"]).first().and_then(Value::as_str));
            if let Some(call) = id.and_then(|id| calls.get(id)).filter(|_| kept.contains(&at)) {
                assert!(kept.contains(call), "the call at {call} of the response at {at}");
            }
        }
    }

    fn counts(&self, [kind, size, ..]: [&str; 4]) {
        let size: u64 = size.parse().unwrap_or_default();
        let after = self.number("after", "tokens");
        for (what, covered) in [("turns", self.turns(&self.covered)), ("events", self.covered.len())] {
            assert_eq!(self.number("before", what) - self.number("after", what), covered as u64);
        }
        assert_eq!(self.report["saved"], self.number("before", "tokens") - after, "result.saved");
        let newest_alone = self.turns(&self.preserved) <= 1;
        let within = match kind {
            "--last-events" => {
                self.preserved.iter().filter(|at| self.role(**at) != "system").count() as u64 <= size
            }
            "--last-turns" => self.turns(&self.preserved) as u64 <= size,
            _ => after <= size,
        };
        assert!(within || newest_alone, "{kind} {size}");
        let over = if kind == "--token-budget" && self.is_cut() { after.saturating_sub(size) } else { 0 };
        assert_eq!(self.report["overshoot"], over, "result.overshoot");
    }

    /// The messages that stay, in the order of the next view.
    fn next_view(&self) -> Vec<Value> {
        self.pinned.iter().chain(&self.preserved).filter_map(|at| self.messages.get(*at).cloned()).collect()
    }
}

#[test]
fn real_transcripts_are_compacted_by_the_rules() -> Checked {
    let Some(folder) = transcripts() else { return Ok(()) };
    for name in READ {
        let path = folder.join(name);
        let came: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let path = path.display().to_string();
        let mut cut = 0;
        for window in WINDOWS {
            let json = [window.as_slice(), &["--format", "json"]].concat();
            let reports = one_or_more(serde_json::from_str(&printed(&path, None, &json)?)?);
            let all = dialogues(&came);
            assert_eq!(reports.len(), all.len(), "{name}");

            let next = printed(&path, None, &[window.as_slice(), &["--format", "openai"]].concat())?;
            let next_json: Value = serde_json::from_str(&next)?;
            let again = one_or_more(serde_json::from_str(&printed("-", Some(&next), &json)?)?);

            for (((messages, report), next), again) in
                all.iter().zip(&reports).zip(dialogues(&next_json)).zip(&again)
            {
                let held = Held::new(messages, report);
                held.partition();
                held.pins();
                held.keeps_whole_turns();
                held.keeps_pairs();
                held.counts(window);
                assert_eq!(next, held.next_view(), "result.verbatim {name} {window:?}");
                assert!(again["unchanged"].is_string(), "pass.idempotent {name} {window:?}");
                assert_eq!(again["after"], report["after"], "pass.idempotent {name} {window:?}");
                cut += usize::from(held.is_cut());
            }
        }
        assert_eq!(
            cut > 0,
            !name.starts_with("swe-agent"),
            "{name}: one turn is never cut, several are somewhere"
        );
    }
    Ok(())
}

#[test]
fn what_is_read_of_a_real_transcript_survives_a_log() -> Checked {
    let Some(folder) = transcripts() else { return Ok(()) };
    for name in READ {
        let path = folder.join(name);
        let came: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let path = path.display().to_string();
        let all = ["--last-turns", "1000000", "--tokenizer", "chars"];
        for (at, messages) in dialogues(&came).iter().enumerate().step_by(23) {
            let number = (at + 1).to_string();
            let one = if name.starts_with("tau") { vec!["--dialogue", number.as_str()] } else { Vec::new() };
            let lines = printed(&path, None, &[all.as_slice(), &["--format", "jsonl"], &one].concat())?;
            let given = printed("-", Some(&lines), &[all.as_slice(), &["--format", "openai"]].concat())?;
            assert_eq!(serde_json::from_str::<Vec<Value>>(&given)?, *messages, "{name}");
        }
    }
    Ok(())
}

#[test]
fn every_other_transcript_is_refused_clearly() -> Checked {
    let Some(folder) = transcripts() else { return Ok(()) };
    let mut found = Vec::new();
    files(&folder, &mut found)?;
    let mut read = Vec::new();
    for path in &found {
        let output = compact(&path.display().to_string(), None, &["--last-turns", "1"])?;
        let told = String::from_utf8(output.stderr)?;
        match output.status.code() {
            Some(0) => read.push(path.strip_prefix(&folder)?.display().to_string()),
            code => {
                assert_eq!(code, Some(1), "{told}");
                assert!(told.contains("expected OpenAI messages or Anthropic messages"), "{told}");
                assert!(told.contains(&*path.display().to_string()), "{told}");
            }
        }
    }
    read.sort();
    assert_eq!(read, READ);
    Ok(())
}
