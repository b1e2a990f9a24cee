//! Text shown to people: shortened where it is long, harmless where it is not.

/// At most `limit` characters of a text, control characters escaped.
pub fn shorten(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == limit {
            shown.push('…');
            break;
        }
        if letter.is_control() {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}
