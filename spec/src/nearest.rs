//! Which id was meant by a misspelt one.

/// The item whose id is nearest to `misspelt`, the first of equals, or none if no id is like it.
///
/// An id is like another when at most a third of the longer one has to be edited.
pub(crate) fn nearest<'a, T>(
    misspelt: &str,
    items: impl Iterator<Item = &'a T>,
    id: impl Fn(&T) -> &str,
) -> Option<&'a T> {
    let query = misspelt.trim().to_lowercase().replace('_', "-");
    items
        .filter_map(|item| edits(&query, id(item)).map(|edits| (edits, item)))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, item)| item)
}

/// The edits from a query to an id, or to its part after the family if the query has no family; none if
/// they are too many to tell what was meant.
fn edits(query: &str, id: &str) -> Option<usize> {
    let meant = match id.split_once('.') {
        Some((_, rest)) if !query.contains('.') => [Some(id), Some(rest)],
        _ => [Some(id), None],
    };
    meant
        .into_iter()
        .flatten()
        .filter_map(|meant| {
            let edits = distance(query, meant);
            let longer = query.chars().count().max(meant.chars().count());
            (edits <= longer / 3).then_some(edits)
        })
        .min()
}

/// The fewest insertions, deletions and substitutions of characters that make `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (1..=b.chars().count()).collect();
    for (above, from) in a.chars().enumerate() {
        let mut diagonal = above;
        let mut left = above + 1;
        for (cell, to) in row.iter_mut().zip(b.chars()) {
            let substituted = diagonal + usize::from(from != to);
            diagonal = *cell;
            left = substituted.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_else(|| a.chars().count())
}

#[cfg(test)]
mod tests {
    use super::distance;
    use crate::{RULES, Rule};

    fn nearest(misspelt: &str) -> Option<&'static str> {
        Rule::nearest(misspelt).map(|rule| rule.id.as_str())
    }

    #[test]
    fn distance_counts_single_character_edits() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("abc", "abd", 1),
            ("abc", "ac", 1),
            ("ac", "abc", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(a, b), edits, "{a:?} to {b:?}");
        }
    }

    #[test]
    fn an_id_with_a_character_left_out_or_added_is_still_recognised() {
        for rule in RULES.iter() {
            assert_eq!(nearest(&rule.id), Some(rule.id.as_str()));
            assert_eq!(nearest(&format!("{}x", rule.id)), Some(rule.id.as_str()));
            for left_out in 0..rule.id.len() {
                let shorter: String =
                    rule.id.char_indices().filter(|(at, _)| *at != left_out).map(|(_, c)| c).collect();
                assert_eq!(nearest(&shorter), Some(rule.id.as_str()), "{shorter}");
            }
        }
    }

    #[test]
    fn a_missing_family_case_and_underscores_are_forgiven() {
        assert_eq!(nearest("preamble"), Some("pin.preamble"));
        assert_eq!(nearest("Pin.System_Prompt"), Some("pin.system-prompt"));
        assert_eq!(nearest("turn_newest"), Some("turn.newest"));
    }

    #[test]
    fn what_is_like_no_id_finds_none() {
        for text in ["", " ", "x", "compaction", "pin.", "💥💥💥💥"] {
            assert_eq!(nearest(text), None, "{text:?}");
        }
    }
}
