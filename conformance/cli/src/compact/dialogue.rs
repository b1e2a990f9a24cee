//! A dialogue as it was read: its events, and what stood around them.

use std::collections::BTreeSet;

use turnfold_core::{Event, EventId, Object};

/// The form of a file or of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub(crate) enum Format {
    /// OpenAI chat messages
    Openai,
    /// Anthropic messages
    Anthropic,
    /// A Turnfold log, or event lines
    Jsonl,
}

impl Format {
    /// The name on the command line, and in an event's `extra`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Jsonl => "jsonl",
        }
    }

    /// The chat format of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Openai, Self::Anthropic].into_iter().find(|format| format.as_str() == name)
    }

    /// What it holds, in words.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Openai => "OpenAI messages",
            Self::Anthropic => "Anthropic messages",
            Self::Jsonl => "Turnfold log",
        }
    }
}

/// What stood around a dialogue's messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shell {
    /// Nothing: a list, or lines
    List,
    /// An object that holds the list, empty here, under a name
    Object {
        /// All its fields
        fields: Object,
        /// The list's name
        list: String,
    },
}

/// One dialogue of a file.
#[derive(Clone, Debug)]
pub(crate) struct Dialogue {
    /// Its place in the file, from 1
    pub(crate) number: usize,
    /// Its events as they came
    pub(crate) events: Vec<Event>,
    /// What stood around them
    pub(crate) shell: Shell,
}

/// What a file holds.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    /// Its form
    pub(crate) format: Format,
    /// Whether its form is one of several dialogues, however many there are
    pub(crate) several: bool,
    /// Its dialogues in order
    pub(crate) dialogues: Vec<Dialogue>,
}

/// An event before it has its id.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The event; its id counts for nothing
    pub(crate) event: Event,
    /// The message's own id, where it has one
    pub(crate) own_id: Option<String>,
}

/// Gives every event an id: the message's own where no other message has it, else `m1`, `m2` … by its place.
pub(crate) fn named(drafts: Vec<Draft>) -> Vec<Event> {
    let mut own = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    for id in drafts.iter().filter_map(|draft| draft.own_id.as_deref()).filter(|id| !id.is_empty()) {
        if !own.insert(id.to_owned()) {
            repeated.insert(id.to_owned());
        }
    }
    let mut used = own;
    let name = |(at, draft): (usize, Draft)| {
        let Draft { mut event, own_id } = draft;
        let unique = own_id.filter(|id| !id.is_empty() && !repeated.contains(id));
        event.id = EventId::from(unique.unwrap_or_else(|| numbered(at.saturating_add(1), &mut used)));
        event
    };
    drafts.into_iter().enumerate().map(name).collect()
}

fn numbered(number: usize, used: &mut BTreeSet<String>) -> String {
    let mut id = format!("m{number}");
    while !used.insert(id.clone()) {
        id.push('\'');
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnfold_core::Role;

    #[test]
    fn own_ids_stay_where_unique_and_numbers_never_collide() {
        let drafts = ["m2", "", "x", "x", "m4"]
            .map(|own| Draft { event: Event::message("", Role::User, ""), own_id: Some(own.into()) });
        let ids: Vec<_> = named(drafts.into()).iter().map(|event| event.id.to_string()).collect();
        assert_eq!(ids, ["m2", "m2'", "m3", "m4'", "m4"]);
    }
}
