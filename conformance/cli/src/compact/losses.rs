//! What a format can't express, counted while it is written, and told.

use std::{collections::BTreeMap, fmt};

use turnfold_core::{Content, Event, Object, Value};

use crate::compact::{
    dialogue::Format,
    origin::Origin,
    value::{list, object},
};

/// Counts by what was left out.
#[derive(Debug, Default)]
pub(crate) struct Losses(BTreeMap<String, usize>);

impl Losses {
    /// Counts one.
    pub(crate) fn count(&mut self, what: impl Into<String>) {
        let count = self.0.entry(what.into()).or_default();
        *count = count.saturating_add(1);
    }

    /// Whether everything was expressed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts what an event holds outside its message, and what the message's calls and responses hold beyond ours.
    /// Ids and weights of events count for a log only: those of an imported dialogue are this command's.
    pub(crate) fn count_event(&mut self, event: &Event, from: Format, to: Format) {
        if from == Format::Jsonl {
            self.count("event `id`");
            if event.tokens().is_some() {
                self.count("event `tokens`");
            }
        }
        if event.time_ms.is_some() {
            self.count("event `time_ms`");
        }
        for (name, _) in &event.metadata.0 {
            self.count(format!("metadata `{name}`"));
        }
        self.count_extra("", &event.extra, to);
        if let Content::Message(message) = &event.content {
            for call in &message.tool_calls {
                self.count_extra("tool call ", &call.extra, to);
            }
            for response in &message.tool_responses {
                self.count_extra("tool response ", &response.extra, to);
            }
        }
    }

    fn count_extra(&mut self, of: &str, extra: &Object, to: Format) {
        for (name, value) in &extra.0 {
            let format = Format::named(name).filter(|_| object(value).is_some());
            match format {
                Some(format) if format == to => {}
                Some(_) => self.count_origin(of, &Origin::read(extra, name).unwrap_or_default()),
                None => self.count(format!("{of}`{name}`")),
            }
        }
    }

    /// The fields of another format. What says nothing, and what every format has in a form of its own, is no loss.
    fn count_origin(&mut self, of: &str, origin: &Origin) {
        for (name, value) in &origin.fields.0 {
            let says_nothing = *value == Value::Null
                || list(value).is_some_and(<[Value]>::is_empty)
                || object(value).is_some_and(Object::is_empty);
            let expressed = matches!(name.as_str(), "role" | "content" | "tool_calls" | "tool_call_ids")
                || (!of.is_empty() && matches!(name.as_str(), "type" | "input" | "arguments" | "custom"));
            if says_nothing || expressed {
                continue;
            }
            match (name.as_str(), value) {
                ("function", Value::Object(function)) => {
                    for (name, _) in
                        function.0.iter().filter(|(name, _)| name != "arguments" && name != "name")
                    {
                        self.count(format!("{of}`function.{name}`"));
                    }
                }
                _ => self.count(format!("{of}`{name}`")),
            }
        }
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (what, count)) in self.0.iter().enumerate() {
            write!(f, "{}{count} × {what}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(event: &str, from: Format, to: Format) -> String {
        let mut losses = Losses::default();
        losses.count_event(&serde_json::from_str(event).unwrap(), from, to);
        losses.to_string()
    }

    #[test]
    fn what_a_log_says_more_is_counted_by_name() {
        let event = r#"{"id":"e","time_ms":1,"role":"user","text":"","tokens":2,"metadata":{"synthetic":true},"x":1}"#;
        assert_eq!(
            counted(event, Format::Jsonl, Format::Openai),
            "1 × `x`, 1 × event `id`, 1 × event `time_ms`, 1 × event `tokens`, 1 × metadata `synthetic`"
        );
    }

    #[test]
    fn another_formats_fields_count_and_ones_own_do_not() {
        let event = r#"{"id":"m1","role":"assistant","text":"","tool_calls":[{"id":"c","name":"ls","arguments":"{}",
            "openai":{"fields":{"index":0,"type":"custom","function":{"parsed":1,"arguments":{}}}}}],
            "openai":{"fields":{"content":null,"refusal":null,"annotations":[],"reasoning_content":"hm"}}}"#;
        assert_eq!(counted(event, Format::Openai, Format::Openai), "");
        assert_eq!(
            counted(event, Format::Openai, Format::Anthropic),
            "1 × `reasoning_content`, 1 × tool call `function.parsed`, 1 × tool call `index`"
        );
    }
}
