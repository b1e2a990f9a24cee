//! `turnfold`: verifies, explains and runs window compaction.
#![forbid(unsafe_code)]

mod compact;
mod failure;
mod print;
mod replay;
mod rules;
mod show;
mod smoke;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use turnfold_conformance::{reference::Reference, serve::serve};

use crate::failure::Failure;

#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(verify::Args),
    Smoke(smoke::Args),
    Rules(rules::ListArgs),
    Explain(rules::ExplainArgs),
    Replay(replay::Args),
    /// The reference implementation as a program that speaks protocol 1
    ///
    /// One request a line in, one answer a line out: ask it for the right answer.
    #[command(after_help = "Example: turnfold verify -- turnfold reference")]
    Reference,
    Compact(compact::Args),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Failure::USAGE } else { 0 });
        }
    };
    let done = match &arguments.command {
        Command::Verify(args) => verify::run(args),
        Command::Smoke(args) => smoke::run(args),
        Command::Rules(args) => rules::list(args),
        Command::Explain(args) => rules::explain(args),
        Command::Replay(args) => replay::run(args),
        Command::Reference => reference(),
        Command::Compact(args) => compact::run(args),
    };
    done.unwrap_or_else(|failure| failure.report())
}

fn reference() -> Result<ExitCode, Failure> {
    serve(&mut Reference::default(), &mut std::io::stdin().lock(), &mut std::io::stdout().lock())
        .map(|()| ExitCode::SUCCESS)
        .map_err(|error| Failure::harness(format!("the pipe to the suite broke: {error}")))
}
