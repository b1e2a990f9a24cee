//! Formats that aren't read, recognised by a field or two so that the error can name them.

use turnfold_core::Value;

use crate::compact::{
    source::Document,
    value::{field, list, object, text_field},
};

/// The format's name, where it is one of those that are known and not read.
pub(crate) fn recognised(document: &Document) -> Option<&'static str> {
    match document {
        Document::Lines(lines) => lines.iter().find_map(|(_, value)| of_record(value)),
        Document::Value(value) => of_file(value).or_else(|| of_record(value)),
    }
}

fn has(value: &Value, names: &[&str]) -> bool {
    names.iter().all(|name| field(value, name).is_some())
}

fn of_file(value: &Value) -> Option<&'static str> {
    if let Some(items) = list(value) {
        return match items.first()? {
            first if has(first, &["lc", "kwargs", "id"]) => Some("LangChain's serialised messages"),
            first if has(first, &["source"]) && (has(first, &["action"]) || has(first, &["observation"])) => {
                Some("an OpenHands trajectory")
            }
            _ => items.iter().find_map(of_record),
        };
    }
    object(value)?;
    if has(value, &["eval", "samples"]) || has(value, &["eval", "plan"]) {
        Some("an inspect_ai log")
    } else if has(value, &["loglines"]) {
        Some("a Claude Code web session")
    } else if has(value, &["sessionId", "projectHash"]) {
        Some("a Gemini CLI session")
    } else if list(field(value, "contents")?).is_some() {
        Some("a Gemini API request")
    } else {
        None
    }
}

/// A record of a session file, one of many.
fn of_record(value: &Value) -> Option<&'static str> {
    let kind = text_field(value, "type");
    if has(value, &["sessionId"]) && (has(value, &["uuid"]) || has(value, &["permissionMode"])) {
        return Some("a Claude Code session");
    }
    if matches!(kind, Some("session_meta" | "response_item" | "event_msg" | "turn_context")) {
        return Some("a Codex rollout");
    }
    if has(value, &["sessionID"]) || (has(value, &["projectID", "directory"])) {
        return Some("a file of OpenCode's storage");
    }
    if has(value, &["provider", "modelId", "cwd"]) || (kind == Some("message") && has(value, &["message"])) {
        return Some("a pi session");
    }
    if kind.is_some_and(|kind| kind.contains('.')) && has(value, &["data", "timestamp"]) {
        return Some("a Copilot CLI session");
    }
    if has(value, &["events", "past_events"]) || has(value, &["invocation_id", "author"]) {
        return Some("a Google ADK session");
    }
    if has(value, &["source", "kind", "timestamp"]) {
        return Some("OpenHands events");
    }
    if has(value, &["issue", "history", "git_patch"]) {
        return Some("an OpenHands evaluation output");
    }
    None
}
