//! The anchor that a heading has in a rendered page.

/// The anchor of a heading, formed as GitHub does: in lower case, letters, digits, `-` and `_` kept,
/// spaces made hyphens, all else left out.
///
/// ```
/// assert_eq!(turnfold_spec::anchor("pin.system-prompt"), "pinsystem-prompt");
/// assert_eq!(turnfold_spec::anchor("Rules: pin"), "rules-pin");
/// ```
pub fn anchor(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::anchor;

    #[test]
    fn an_anchor_is_lower_case_hyphenated_and_free_of_punctuation() {
        assert_eq!(anchor("turn.start"), "turnstart");
        assert_eq!(anchor("turn start"), "turn-start");
        assert_eq!(anchor(" How to read, this `book`? "), "how-to-read-this-book");
        assert_eq!(anchor("Größe_2"), "größe_2");
    }
}
