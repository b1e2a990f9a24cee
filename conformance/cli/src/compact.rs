//! `turnfold compact`: reads a session, compacts it, and shows or writes what stays.
//!
//! A transcript is read into dialogues ([`read`], [`openai`], [`anthropic`]) or a log opened ([`log`]); each dialogue is
//! weighed ([`weigh`]) and compacted ([`compaction`]); the result is a picture ([`strip`]), a table, JSON, or the next view
//! in one of the forms that are read.

mod anthropic;
mod compaction;
mod content;
mod dialogue;
mod explain;
mod foreign;
mod log;
mod losses;
mod openai;
mod origin;
mod output;
mod paint;
mod parts;
mod progress;
mod read;
mod report;
mod source;
mod strip;
mod table;
mod terminal;
mod value;
mod weigh;

use std::{path::PathBuf, process::ExitCode};

use turnfold_core::{InvalidWindow, Size, Window};

use crate::{
    compact::{
        compaction::Compaction,
        dialogue::{Dialogue, Format, Transcript},
        log::{Record, Session},
        output::Output,
        progress::Progress,
        source::Source,
        weigh::Tokenizer,
    },
    failure::Failure,
};

/// Compact a session: see what a window pins, covers and keeps
///
/// Reads OpenAI chat messages, Anthropic messages, or a Turnfold log. No summarizer is asked: what is covered leaves the
/// view and nothing stands in for it. Nothing is written unless --write says so.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The transcript or log; `-` is standard input
    file: PathBuf,

    #[command(flatten)]
    window: WindowArgs,

    /// What the file holds, instead of detecting it
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<Format>,

    /// Only this dialogue of the file, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    dialogue: Option<u64>,

    /// What counts tokens where events carry no weight
    ///
    /// A message weighs its role, its text, the names and arguments of its tool calls, the names and texts of its tool
    /// responses, and what other parts say in words. Pictures and files weigh nothing.
    #[arg(long, value_enum, default_value = "o200k")]
    tokenizer: Tokenizer,

    /// What to print
    ///
    /// The next view in the form it came in is written with the kept messages as they came. In another form, what that
    /// form can't express is left out, counted, and told on standard error.
    #[arg(long, value_enum, default_value = "strip")]
    format: View,

    /// Say why events are pinned, covered or kept, by rule
    #[arg(long)]
    explain: bool,

    /// Append the boundary to the log
    ///
    /// Only a Turnfold log can be written to, and only if nobody appended to it meanwhile: then the exit code is 1.
    #[arg(long)]
    write: bool,

    /// Columns of the picture, instead of the terminal's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(20..=1000))]
    width: Option<u16>,
}

/// The window: exactly one.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct WindowArgs {
    /// Keep the last N events of the turns
    #[arg(long, value_name = "N", value_parser = size)]
    last_events: Option<Size>,

    /// Keep the last N turns
    #[arg(long, value_name = "N", value_parser = size)]
    last_turns: Option<Size>,

    /// Keep the newest turns that fit N tokens together with what is pinned
    #[arg(long, value_name = "N", value_parser = size)]
    token_budget: Option<Size>,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum View {
    /// A picture, then the numbers
    Strip,
    /// A row an event
    Table,
    /// The numbers, and every event with its place
    Json,
    /// The next view as event lines
    Jsonl,
    /// The next view as OpenAI chat messages
    Openai,
    /// The next view as Anthropic messages
    Anthropic,
}

fn size(text: &str) -> Result<Size, String> {
    let number: u64 = text.parse().map_err(|_| "expected a whole number from 1 up".to_owned())?;
    Size::new(number).map_err(|error: InvalidWindow| error.to_string())
}

impl WindowArgs {
    fn window(&self) -> Result<Window, Failure> {
        let events = self.last_events.map(Window::Events);
        let turns = self.last_turns.map(Window::Turns);
        let tokens = self.token_budget.map(Window::Tokens);
        events.or(turns).or(tokens).ok_or_else(|| {
            Failure::usage("no window: give one of `--last-events`, `--last-turns` and `--token-budget`")
        })
    }
}

/// Runs the command.
///
/// # Errors
///
/// A command line that asks for what can't be, or an input that can't be compacted.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let window = args.window.window()?;
    let name = source::name(&args.file);
    let progress = Progress::start(&format!("reading {name}"));
    let (transcript, mut session) = match Source::open(&args.file, args.from)? {
        Source::Log(path) => {
            let session = Session::open(&path, args.tokenizer, window, args.write)?;
            let dialogues = vec![session.dialogue()];
            (Transcript { format: Format::Jsonl, several: false, dialogues }, Some(session))
        }
        Source::Text(text) => (read::transcript(&text, args.from, &name)?, None),
    };
    if args.write && session.is_none() {
        return Err(Failure::usage(format!(
            "{name} holds {}, and only a Turnfold log can be written to: leave `--write` out and print the next view \
             with `--format`",
            if transcript.format == Format::Jsonl {
                "event lines without a log's header"
            } else {
                transcript.format.title()
            }
        )));
    }
    let dialogues = chosen(&transcript, args.dialogue)?;
    let mut compactions = Vec::with_capacity(dialogues.len());
    for dialogue in &dialogues {
        progress.doing(format!("weighing dialogue {} of {}", dialogue.number, transcript.dialogues.len()));
        compactions.push(compacted(dialogue, args.tokenizer, window, &name)?);
    }
    drop(progress);
    let written: Option<Record> = match &mut session {
        Some(session) if args.write => session.write(&args.file)?,
        _ => None,
    };
    let output = Output {
        file: &args.file,
        name: &name,
        transcript: &transcript,
        compactions: &compactions,
        several: transcript.several && args.dialogue.is_none(),
        explain: args.explain,
        columns: args.width.map_or_else(terminal::columns, usize::from),
        asked_to_write: args.write,
        written: written.as_ref(),
    };
    output.print(args.format)?;
    Ok(ExitCode::SUCCESS)
}

fn chosen(transcript: &Transcript, number: Option<u64>) -> Result<Vec<&Dialogue>, Failure> {
    let Some(number) = number else { return Ok(transcript.dialogues.iter().collect()) };
    let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let dialogue = at.and_then(|at| transcript.dialogues.get(at)).ok_or_else(|| {
        Failure::usage(format!(
            "dialogue {number} was asked for, and the file has {}",
            paint::counted(transcript.dialogues.len(), "dialogue")
        ))
    })?;
    Ok(vec![dialogue])
}

fn compacted<'d>(
    dialogue: &'d Dialogue,
    tokenizer: Tokenizer,
    window: Window,
    name: &str,
) -> Result<Compaction<'d>, Failure> {
    Compaction::of(dialogue, tokenizer, window)
        .map_err(|invalid| Failure::input(format!("{name}: dialogue {}: {invalid}", dialogue.number)))
}
