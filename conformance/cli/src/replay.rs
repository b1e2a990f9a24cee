//! `turnfold replay`: runs one session in the notation and shows what is right and what was found.

use std::{ffi::OsString, fmt::Write, process::ExitCode};

use turnfold_conformance::{
    notation,
    reference::Reference,
    rules::{Judgement, Seen, properties},
    run::run as run_script,
};

use crate::{
    failure::Failure,
    print::print,
    show::paint,
    verify::{named_rules, subject},
};

/// Run one session, as a report writes it, and judge it
///
/// The notation is that of the rule book's examples; `;` stands between operations.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold replay 'pass A1 U1 A2 U2 | turns 1' -- ./my-program")]
pub(crate) struct Args {
    /// The session
    session: String,
    /// Judge this rule or family alone (may be repeated)
    #[arg(long, value_name = "ID")]
    rule: Vec<String>,
    /// How long the program may take for one answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    deadline_ms: u64,
    /// The program, with its arguments; without one, the reference
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let lines: Vec<&str> = args.session.split(['\n', ';']).map(str::trim).collect();
    let steps = notation::read(&lines.join("\n")).map_err(Failure::usage)?;
    if steps.is_empty() {
        return Err(Failure::usage(
            "the session has no operation, expected one such as `pass U1 A1 U2 | turns 1`",
        ));
    }
    let rules = named_rules(&args.rule)?;
    let script = notation::script(&steps);
    let right = run_script(&mut Reference::default(), &script).map_err(Failure::harness)?;
    let found =
        run_script(&mut *subject(&args.program, args.deadline_ms), &script).map_err(Failure::harness)?;
    let (expected, answers) = (notation::answers(&steps, &right), notation::answers(&steps, &found));
    let mut text = String::new();
    for ((step, expected), found) in steps.iter().zip(&expected).zip(&answers) {
        let _ = writeln!(text, "{}", paint(anstyle::Style::new().bold(), &step.line));
        for row in found {
            let _ = writeln!(text, "  {row}");
        }
        if expected != found {
            let _ = writeln!(
                text,
                "  {}",
                paint(anstyle::AnsiColor::Green.on_default(), format!("expected: {}", expected.join("; ")))
            );
        }
    }
    let seen = Seen::passes(&found);
    let mut broken = 0_u32;
    for property in
        properties().filter(|property| rules.is_empty() || rules.iter().any(|id| id == property.rule))
    {
        if let Judgement::Breaks(why) = property.judge(&found, &seen) {
            broken += 1;
            let _ = writeln!(
                text,
                "{} {}: {why}",
                paint(anstyle::AnsiColor::Red.on_default(), "✗"),
                property.rule
            );
        }
    }
    if broken == 0 {
        let _ = writeln!(text, "{} no rule is broken", paint(anstyle::AnsiColor::Green.on_default(), "✓"));
    }
    print(&text)?;
    Ok(ExitCode::from(u8::from(broken > 0)))
}
