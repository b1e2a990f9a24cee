//! `turnfold smoke`: five cases that hardly any compaction gets wrong, so that a failure is the adapter's.

use std::{ffi::OsString, process::ExitCode};

use anstyle::{AnsiColor, Style};
use turnfold_conformance::{notation, reference::Reference, run::run as run_script, verify::allows};

use crate::{failure::Failure, print::print, show::paint, verify::subject};

/// Ask five trivial cases: a failure means the adapter, not the algorithm
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold smoke -- python3 my_adapter.py")]
pub(crate) struct Args {
    /// How long the program may take for one answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    deadline_ms: u64,
    /// The program, with its arguments; without one, the reference
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

const CASES: [(&str, &str); 5] = [
    ("an empty view stays empty", "pass | turns 1"),
    ("one turn in a window of two stays", "pass U1 A1 | turns 2"),
    ("the older of two turns leaves a window of one", "pass U1 A1 U2 A2 | turns 1"),
    ("a summary stands in for it", "pass U1 A1 U2 A2 | turns 1 | summarizer text"),
    ("a summarizer that declines changes nothing", "pass U1 A1 U2 A2 | turns 1 | summarizer decline"),
];

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut subject = subject(&args.program, args.deadline_ms);
    let hello =
        subject.hello().map_err(|fault| Failure::harness(format!("no answer to `hello`: {fault}")))?;
    let (mut passed, mut failed, mut skipped) = (0_u32, 0_u32, 0_u32);
    for (about, asked) in CASES {
        let steps = notation::read(asked).map_err(Failure::harness)?;
        let script = notation::script(&steps);
        if !allows(&hello.capabilities, &script) {
            skipped += 1;
            line(&format!("{} {about}: not declared", paint(Style::new().dimmed(), "-")))?;
            continue;
        }
        let right = run_script(&mut Reference::default(), &script).map_err(Failure::harness)?;
        let found = run_script(&mut *subject, &script)
            .map_err(|fault| Failure::harness(format!("{about}: {fault}\n  asked: {asked}")))?;
        let next = |transcript: &turnfold_conformance::run::Transcript| -> Vec<String> {
            let lines = notation::answers(&steps, transcript).into_iter().flatten();
            lines.filter(|line| !line.starts_with("saved ") && !line.starts_with("overshoot ")).collect()
        };
        let (expected, answered) = (next(&right), next(&found));
        if expected == answered {
            passed += 1;
            line(&format!("{} {about}", paint(AnsiColor::Green.on_default(), "✓")))?;
        } else {
            failed += 1;
            line(&format!("{} {about}", paint(AnsiColor::Red.on_default(), "✗")))?;
            line(&format!("    {asked}"))?;
            line(&format!("    expected: {}", expected.join("; ")))?;
            line(&format!("    found:    {}", answered.join("; ")))?;
        }
    }
    print("\n")?;
    if failed > 0 {
        line("what fails here is nearly always the adapter: see spec/protocol.md, \"Writing an adapter\"")?;
    }
    let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    line(&format!("{passed} passed, {failed} failed{skipped}"))?;
    Ok(ExitCode::from(if failed > 0 {
        1
    } else if passed == 0 {
        2
    } else {
        0
    }))
}

/// A line at once: a slow program's cases are seen as they come.
fn line(text: &str) -> Result<(), Failure> {
    print(&format!("{text}\n"))
}
