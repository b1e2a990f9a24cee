//! What an event weighs, in tokens of a named tokenizer.
//!
//! The weight of a message is the sum of these pieces, each counted by itself: its role, its text, the name and the
//! arguments of each tool call, the name and the text of each tool response, and what parts say in words (`text`,
//! `thinking`, `refusal`, `title`, `context`, plain-text documents, the input and the result of server tools).
//! Pictures, sound, files, signatures, ids and fields that only one format knows weigh nothing here. A weight that an
//! event carries in `tokens` wins over all of it.

use turnfold_core::{Event, Message, Value};

use crate::compact::value::{list, text_field, written};

/// What counts tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Tokenizer {
    /// OpenAI's o200k
    O200k,
    /// OpenAI's cl100k
    Cl100k,
    /// Characters, a token each
    Chars,
}

impl Tokenizer {
    /// The name on the command line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::Chars => "chars",
        }
    }

    /// The weight of an event: its own, or the pieces'. One over 32 bits counts as the most that fits.
    pub(crate) fn weigh(self, event: &Event) -> u32 {
        let Some(message) = event.as_message() else { return 0 };
        message.tokens.unwrap_or_else(|| {
            let tokens =
                words(message).iter().fold(0_usize, |sum, piece| sum.saturating_add(self.count(piece)));
            u32::try_from(tokens).unwrap_or(u32::MAX)
        })
    }

    fn count(self, piece: &str) -> usize {
        match self {
            _ if piece.is_empty() => 0,
            Self::O200k => bpe_openai::o200k_base().count(piece),
            Self::Cl100k => bpe_openai::cl100k_base().count(piece),
            Self::Chars => piece.chars().count(),
        }
    }
}

/// How many parts of an event say nothing in words, where that leaves them without weight.
pub(crate) fn weightless_parts(event: &Event) -> usize {
    let Some(message) = event.as_message().filter(|message| message.tokens.is_none()) else { return 0 };
    let silent = |part: &&Value| {
        let mut pieces = Vec::new();
        words_of_part(part, &mut pieces);
        pieces.is_empty() && !matches!(text_field(part, "type"), Some("redacted_thinking"))
    };
    message.parts.iter().filter(silent).count()
}

fn words(message: &Message) -> Vec<String> {
    let mut pieces = vec![message.role.as_str().into(), message.text.clone()];
    for call in &message.tool_calls {
        pieces.extend([call.name.clone(), call.arguments.clone()]);
    }
    for response in &message.tool_responses {
        pieces.extend([response.name.clone(), response.text.clone()]);
    }
    for part in &message.parts {
        words_of_part(part, &mut pieces);
    }
    pieces
}

fn words_of_part(part: &Value, pieces: &mut Vec<String>) {
    let Value::Object(fields) = part else {
        return list(part).unwrap_or_default().iter().for_each(|part| words_of_part(part, pieces));
    };
    for (name, value) in &fields.0 {
        match (name.as_str(), value) {
            ("text" | "thinking" | "refusal" | "title" | "context" | "content", Value::String(words)) => {
                pieces.push(words.clone());
            }
            ("data", Value::String(words)) if text_field(part, "type") == Some("text") => {
                pieces.push(words.clone());
            }
            ("source" | "content", nested) => words_of_part(nested, pieces),
            ("input", input) => {
                pieces.extend(text_field(part, "name").map(String::from));
                pieces.push(written(input));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(json: &str) -> Event {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn every_piece_counts_by_itself() {
        let said = event(
            r#"{"id":"e","role":"assistant","text":"abc","tool_calls":[{"id":"long id","name":"ls","arguments":"{}"}]}"#,
        );
        assert_eq!(Tokenizer::Chars.weigh(&said), 9 + 3 + 2 + 2);
        let answered = event(
            r#"{"id":"e","role":"tool","text":"","tool_responses":[{"id":"x","name":"ls","text":"é é"}]}"#,
        );
        assert_eq!(Tokenizer::Chars.weigh(&answered), 4 + 2 + 3);
        assert_eq!(Tokenizer::O200k.weigh(&event(r#"{"id":"e","role":"user","text":"hello world"}"#)), 1 + 2);
        assert_eq!(
            Tokenizer::Cl100k.weigh(&event(r#"{"id":"e","role":"user","text":"hello world"}"#)),
            1 + 2
        );
    }

    #[test]
    fn an_own_weight_wins() {
        let own = event(r#"{"id":"e","role":"user","text":"hello","tokens":99,"parts":[{"type":"image"}]}"#);
        assert_eq!(Tokenizer::O200k.weigh(&own), 99);
        assert_eq!(weightless_parts(&own), 0);
        assert_eq!(Tokenizer::Chars.weigh(&event(r#"{"id":"x","type":"UI.CLICK","payload":{}}"#)), 0);
    }

    #[test]
    fn parts_weigh_what_they_say() {
        let parts = |parts: &str| event(&format!(r#"{{"id":"e","role":"user","text":"","parts":{parts}}}"#));
        for (json, weight, silent) in [
            (r#"[{"type":"thinking","thinking":"abcd","signature":"…"}]"#, 4, 0),
            (r#"[{"type":"image","source":{"type":"base64","data":"AAAA"}}]"#, 0, 1),
            (r#"[{"type":"document","title":"t","source":{"type":"text","data":"abc"}}]"#, 4, 0),
            (r#"[{"type":"server_tool_use","id":"s","name":"web","input":{"q":1}}]"#, 3 + 7, 0),
            (r#"[{"type":"x_tool_result","content":[{"title":"ab","url":"…"}]}]"#, 2, 0),
            (r#"[{"type":"redacted_thinking","data":"…"}]"#, 0, 0),
            ("[7,null]", 0, 2),
        ] {
            assert_eq!(Tokenizer::Chars.weigh(&parts(json)), 4 + weight, "{json}");
            assert_eq!(weightless_parts(&parts(json)), silent, "{json}");
        }
    }
}
