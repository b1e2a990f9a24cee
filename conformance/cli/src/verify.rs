//! `turnfold verify`: judges an implementation by every rule and says what it breaks.

use std::{
    ffi::OsString,
    io::IsTerminal,
    process::ExitCode,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use turnfold_conformance::{
    program::{Program, Start},
    reference::Reference,
    report::{Report, Verdict},
    subject::Subject,
    verify::{Options, verify},
};
use turnfold_spec::{RULES, Rule};

use crate::{failure::Failure, print::print, show};

/// Verify an implementation against every rule of the spec
///
/// Without a program it is the reference implementation that is verified, in this process.
/// A program speaks protocol 1 on its stdin and stdout (see spec/protocol.md).
///
/// Exit codes: 0 conforms, 1 fails, 2 no verdict, 3 the program doesn't keep the protocol, 64 usage.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold verify -- python3 conformance/adapters/templates/python/adapter.py"
)]
pub(crate) struct Args {
    /// Judge this rule or family alone, such as `pin.preamble` or `pin` (may be repeated)
    #[arg(long, value_name = "ID")]
    rule: Vec<String>,
    /// How many random cases to try
    #[arg(long, value_name = "N", default_value_t = Options::default().cases)]
    cases: u32,
    /// What the random cases are made from; the same seed makes the same cases
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Let chosen rules count as well
    #[arg(long)]
    strict: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
    /// How long the program may take for one answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    deadline_ms: u64,
    /// The program to verify, with its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let options = Options {
        cases: args.cases,
        seed: args.seed,
        rules: named_rules(&args.rule)?,
        strict: args.strict,
        ..Options::default()
    };
    let mut progress = Progress::new();
    let started = Instant::now();
    let mut subject = subject(&args.program, args.deadline_ms);
    let report = verify(&mut *subject, &options, &mut |done, total| progress.at(done, total))
        .map_err(|fault| Failure::harness(format!("no report: {}", fault.message)))?;
    progress.end();
    if args.json {
        let text = report.to_json().map_err(Failure::harness)?;
        print(&format!("{text}\n"))?;
    } else {
        let replay = Replay { command: &args.program, seed: args.seed, cases: args.cases };
        print(&show::report(&report, &replay, started.elapsed()))?;
    }
    Ok(exit_code(&report))
}

/// The command lines that show a failure again.
pub(crate) struct Replay<'a> {
    pub(crate) command: &'a [OsString],
    pub(crate) seed: u64,
    pub(crate) cases: u32,
}

/// The reference in this process, or a program.
pub(crate) fn subject(command: &[OsString], deadline_ms: u64) -> Box<dyn Subject> {
    if command.is_empty() {
        return Box::new(Reference::default());
    }
    let deadline = Duration::from_millis(deadline_ms.max(1));
    Box::new(Program::new(Start { deadline, ..Start::new(command.to_vec()) }))
}

fn exit_code(report: &Report) -> ExitCode {
    let verdict: Verdict = report.verdict();
    ExitCode::from(verdict.exit_code())
}

/// The ids that names stand for: a rule's own, or all of a family.
pub(crate) fn named_rules(names: &[String]) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for name in names {
        let family = name.trim_end_matches('.');
        let found: Vec<String> = RULES
            .iter()
            .filter(|rule| rule.id == *name || rule.family == family)
            .map(|rule| rule.id.clone())
            .collect();
        if found.is_empty() {
            return Err(unknown_rule(name));
        }
        ids.extend(found);
    }
    Ok(ids)
}

/// No rule has that name; perhaps one like it was meant.
pub(crate) fn unknown_rule(name: &str) -> Failure {
    let meant = Rule::nearest(name).map_or_else(String::new, |rule| format!(", did you mean `{}`?", rule.id));
    Failure::usage(format!("no rule is called `{name}`{meant} (`turnfold rules` lists them)"))
}

/// A bar on stderr, once there is something to wait for.
struct Progress {
    started: Instant,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl Progress {
    fn new() -> Self {
        Self { started: Instant::now(), bar: None, shown: std::io::stderr().is_terminal() }
    }

    fn at(&mut self, done: u64, total: u64) {
        if !self.shown || self.started.elapsed() < Duration::from_secs(1) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} cases, {eta} left");
            ProgressBar::new(total).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position(done);
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
