//! The vectors' form: stable and diffable, an event a line. That each is of its schema is checked with the documents.

use turnfold_spec::documents::vectors;

/// What makes a file's differences hard to read.
fn unreadable(text: &str) -> Option<String> {
    if text.contains('\r') || !text.ends_with("}\n") || text.ends_with("\n\n") {
        return Some("line ends are not LF, or the end is not one".into());
    }
    text.lines().enumerate().find_map(|(nth, line)| {
        let events = line.matches("\"role\":").count();
        let alone = line.trim_start().starts_with("{\"id\":") || line.contains("\"event\": {\"id\":");
        let fault = if line != line.trim_end() {
            "ends with white space"
        } else if events > 1 {
            "holds several events"
        } else if events == 1 && !alone {
            "holds an event and something else"
        } else if line.contains('\t') {
            "is indented with a tab"
        } else {
            return None;
        };
        Some(format!("line {} {fault}", nth + 1))
    })
}

#[test]
fn every_vector_can_be_read_line_by_line() {
    for (name, text) in vectors() {
        assert_eq!(unreadable(text), None, "{name}");
        let fields: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next()).collect();
        assert!(fields.starts_with(&["name", "about"]), "{name}: {fields:?}");
    }
}

#[test]
fn what_can_not_be_read_is_found() {
    for text in [
        "{\n  \"a\": 1\r\n}\n",
        "{\n  \"a\": 1\n}",
        "{\n  \"a\": 1 \n}\n",
        "{\n\t\"a\": 1\n}\n",
        "{\n  {\"id\": \"a\", \"role\": \"user\"}, {\"id\": \"b\", \"role\": \"user\"}\n}\n",
        "{\n  \"view\": [{\"id\": \"a\", \"role\": \"user\"}]\n}\n",
    ] {
        assert!(unreadable(text).is_some(), "{text}");
    }
}
