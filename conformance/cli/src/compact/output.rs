//! What is printed: the picture for a person on standard output, or a form for a program, and then what a person should
//! know on standard error.

use std::path::Path;

use serde::Serialize;
use turnfold_core::{Event, Object, Value};

use crate::{
    compact::{
        View, anthropic,
        compaction::Compaction,
        dialogue::{Format, Shell, Transcript},
        explain,
        log::Record,
        losses::Losses,
        openai,
        paint::{FAINT, WARNING, counted, paint},
        report::Report,
        strip::{MARGIN, balance, heading, overview, strip},
        table::table,
        weigh::weightless_parts,
    },
    failure::Failure,
    print::print,
};

/// Everything there is to print.
pub(super) struct Output<'o> {
    pub(super) file: &'o Path,
    /// How the file is called in a message
    pub(super) name: &'o str,
    pub(super) transcript: &'o Transcript,
    pub(super) compactions: &'o [Compaction<'o>],
    /// Whether the form is a list of dialogues
    pub(super) several: bool,
    pub(super) explain: bool,
    pub(super) columns: usize,
    pub(super) asked_to_write: bool,
    pub(super) written: Option<&'o Record>,
}

impl Output<'_> {
    /// Prints it.
    ///
    /// # Errors
    ///
    /// Several dialogues as one log, or a standard output that refuses.
    pub(super) fn print(&self, view: View) -> Result<(), Failure> {
        let mut losses = Losses::default();
        let text = match view {
            View::Strip => joined(&self.picture()),
            View::Table => joined(&self.tables()),
            View::Json => self.reports()?,
            View::Jsonl => self.event_lines()?,
            View::Openai => self.messages(|compaction| self.openai(compaction, &mut losses))?,
            View::Anthropic => self.messages(|compaction| self.anthropic(compaction, &mut losses))?,
        };
        print(&text)?;
        let is_picture = matches!(view, View::Strip | View::Table);
        if !is_picture {
            note(format!("read {}", self.heading().join(", ")));
            if self.explain && view != View::Json {
                anstream::eprint!("{}", joined(&self.explanations()));
            }
            if let Some(said) = self.said_of_writing() {
                note(said);
            }
        }
        self.note_weightless();
        if !losses.is_empty() {
            let format = if view == View::Openai { Format::Openai } else { Format::Anthropic };
            note(format!("not expressible as {} and left out: {losses}", format.title()));
        }
        Ok(())
    }

    fn heading(&self) -> Vec<String> {
        let mut parts = vec![self.name.to_owned(), self.transcript.format.title().into()];
        if self.several {
            parts.push(counted(self.compactions.len(), "dialogue"));
        } else if let (true, Some(only)) = (self.transcript.several, self.compactions.first()) {
            parts.push(format!("dialogue {} of {}", only.dialogue.number, self.transcript.dialogues.len()));
        }
        if let Some(compaction) = self.compactions.first() {
            parts.push(asked(compaction.window));
            let events = || self.compactions.iter().flat_map(|compaction| &compaction.dialogue.events);
            if events().any(|event| event.tokens().is_none()) {
                parts.push(compaction.tokenizer.as_str().into());
            }
        }
        parts
    }

    /// The heading of a picture, under the file's own name.
    fn title(&self) -> Vec<String> {
        let mut parts = self.heading();
        if let (Some(first), Some(name)) =
            (parts.first_mut(), self.file.file_name().filter(|name| *name != "-"))
        {
            *first = name.display().to_string();
        }
        parts
    }

    fn picture(&self) -> Vec<String> {
        let mut lines = vec![heading(&self.title()), String::new()];
        match self.compactions {
            [only] if !self.several => {
                lines.extend(strip(only, self.columns));
                lines.push(String::new());
                lines.extend(balance(only, self.columns));
            }
            all => lines.extend(overview(all, self.columns)),
        }
        self.finished(lines)
    }

    fn tables(&self) -> Vec<String> {
        let mut lines = vec![heading(&self.title())];
        for compaction in self.compactions {
            if self.several {
                lines.extend([String::new(), format!("dialogue {}", compaction.dialogue.number)]);
            }
            lines.push(String::new());
            lines.extend(table(compaction, self.columns));
            lines.push(String::new());
            lines.extend(balance(compaction, self.columns));
        }
        self.finished(lines)
    }

    fn finished(&self, mut lines: Vec<String>) -> Vec<String> {
        if self.explain {
            lines.push(String::new());
            lines.extend(self.explanations());
        }
        if let Some(said) = self.said_of_writing() {
            lines.extend([String::new(), format!("{MARGIN}{said}")]);
        }
        lines
    }

    fn explanations(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for compaction in self.compactions {
            if self.several {
                let number = format!("dialogue {}", compaction.dialogue.number);
                lines.push(format!("{MARGIN}{}", paint(FAINT, number)));
            }
            lines.extend(explain::lines(&explain::reasons(compaction), self.columns));
        }
        lines
    }

    fn said_of_writing(&self) -> Option<String> {
        match self.written {
            Some(Record { boundary, version }) => {
                Some(format!("wrote boundary `{boundary}`, the log is at version {version}"))
            }
            None => self.asked_to_write.then(|| "wrote nothing, as nothing changes".into()),
        }
    }

    fn reports(&self) -> Result<String, Failure> {
        let report = |compaction| {
            let explanation = self.explain.then(|| explain::reasons(compaction));
            Report::of(compaction, self.transcript.format, explanation, self.written)
        };
        match self.compactions {
            [only] if !self.several => pretty(&report(only)),
            all => pretty(&all.iter().map(report).collect::<Vec<_>>()),
        }
    }

    /// The next view, an event a line. Events of a log stay as they came; imported ones take their weight with them.
    fn event_lines(&self) -> Result<String, Failure> {
        let [compaction] = self.compactions else {
            return Err(Failure::usage(format!(
                "{} has {}, which make no one log: choose one with `--dialogue`",
                self.name,
                counted(self.compactions.len(), "dialogue")
            )));
        };
        let mut text = String::new();
        for weighed in compaction.next_view() {
            let weighing = || weighed.event.clone().weighing(weighed.tokens);
            let own = self.transcript.format == Format::Jsonl;
            let event = if own { weighed.event.clone() } else { weighing() };
            text.push_str(&serde_json::to_string(&event).map_err(Failure::input)?);
            text.push('\n');
        }
        Ok(text)
    }

    fn messages(&self, mut written: impl FnMut(&Compaction<'_>) -> Value) -> Result<String, Failure> {
        match self.compactions {
            [only] if !self.several => pretty(&written(only)),
            all => pretty(&all.iter().map(written).collect::<Vec<_>>()),
        }
    }

    /// The fields of the object around a dialogue, where the dialogue is written in the format it came in; what stood
    /// there is lost otherwise.
    fn shell<'c>(
        &self,
        compaction: &'c Compaction<'_>,
        to: Format,
        losses: &mut Losses,
    ) -> Option<(&'c Object, &'c str)> {
        let Shell::Object { fields, list } = &compaction.dialogue.shell else { return None };
        if self.transcript.format == to {
            return Some((fields, list));
        }
        for (name, _) in fields.0.iter().filter(|(name, _)| name != list && name != "system") {
            losses.count(format!("`{name}` beside the messages"));
        }
        None
    }

    fn openai(&self, compaction: &Compaction<'_>, losses: &mut Losses) -> Value {
        let events: Vec<&Event> = compaction.next_view().map(|weighed| weighed.event).collect();
        let messages = openai::write(&events, self.transcript.format, losses);
        let shell = self.shell(compaction, Format::Openai, losses);
        openai::in_shell(messages, shell)
    }

    fn anthropic(&self, compaction: &Compaction<'_>, losses: &mut Losses) -> Value {
        let events: Vec<&Event> = compaction.next_view().map(|weighed| weighed.event).collect();
        let written = anthropic::write(&events, self.transcript.format, losses);
        let shell = self.shell(compaction, Format::Anthropic, losses);
        anthropic::in_shell(written, shell)
    }

    fn note_weightless(&self) {
        let parts =
            self.compactions.iter().flat_map(|compaction| &compaction.dialogue.events).map(weightless_parts);
        let parts = parts.fold(0_usize, usize::saturating_add);
        if parts > 0 {
            note(format!(
                "{} without words (pictures, files) weigh nothing here: an event's `tokens` says otherwise",
                counted(parts, "part")
            ));
        }
    }
}

fn joined(lines: &[String]) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn asked(window: turnfold_core::Window) -> String {
    use turnfold_core::Window;
    let count = |size: turnfold_core::Size| usize::try_from(size.get()).unwrap_or(usize::MAX);
    match window {
        Window::Events(size) => format!("last {}", counted(count(size), "event")),
        Window::Turns(size) => format!("last {}", counted(count(size), "turn")),
        Window::Tokens(size) => format!("{} at most", counted(count(size), "token")),
    }
}

fn pretty(value: &impl Serialize) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(Failure::input)?;
    text.push('\n');
    Ok(text)
}

fn note(text: impl std::fmt::Display) {
    anstream::eprintln!("{} {text}", paint(WARNING, "turnfold:"));
}
