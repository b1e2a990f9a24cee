//! Reads rules out of the markdown of a rule book, and says where and how a malformed one is malformed.
//!
//! A family of rules is a heading `## Rules: pin` and a paragraph of one sentence, followed by its rules.
//! A rule has exactly this form:
//!
//! ````markdown
//! ### pin.preamble
//!
//! *documented* · WindowCompactionStrategy, step 2
//!
//! Whatever the [window](#window), a cutting pass pins the preamble.
//!
//! Note: A note is optional and requires nothing.
//!
//! ```example
//! pass A0 U1 A1 U2 A2 | turns 1
//!   pinned A0
//!   covered U1 A1
//!   preserved U2 A2
//! ```
//! ````
//!
//! Sections under other headings are prose and are not read, except that no two headings of the book may
//! have the same anchor, no rule may stand among them and every fence must be closed.

use std::collections::BTreeMap;
use std::{error, fmt, iter, vec};

use crate::markdown::{Block, Kind, beginning, blocks, plain};
use crate::{Rule, Standing, anchor};

/// Reads the rules of a book, in its order.
///
/// # Errors
///
/// The first place at which the book does not have the form that this module describes.
pub fn parse(text: &str) -> Result<Vec<Rule>, Malformed> {
    let blocks = blocks(text)?;
    let last_line = text.lines().count().max(1);
    anchors_are_unique(&blocks)?;

    let mut rest = Rest { blocks: blocks.into_iter().peekable(), last_line };
    let mut rules: Vec<Rule> = Vec::new();
    while let Some(block) = rest.blocks.next() {
        match &block.kind {
            Kind::Heading { level: 2, text } => {
                if let Some(family) = text.strip_prefix("Rules: ") {
                    rules.extend(rest.family(family, block.line)?);
                }
            }
            Kind::Heading { text, .. } if is_rule_id(text) => {
                let fault = format!("the rule `{text}` stands under no heading `## Rules: …`");
                return Err(Malformed::at(block.line, fault));
            }
            _ => {}
        }
    }
    if rules.is_empty() {
        return Err(Malformed::at(last_line, "expected a heading `## Rules: …` with rules, found none"));
    }
    Ok(rules)
}

/// A place at which a rule book does not have its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    line: usize,
    fault: String,
}

impl Malformed {
    pub(crate) fn at(line: usize, fault: impl Into<String>) -> Self {
        Self { line, fault: fault.into() }
    }

    /// The line of the place, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rules.md:{}: {}", self.line, self.fault)
    }
}

impl error::Error for Malformed {}

/// Refuses two headings whose links a renderer would have to tell apart by a number.
fn anchors_are_unique(blocks: &[Block]) -> Result<(), Malformed> {
    let mut taken = BTreeMap::new();
    for block in blocks {
        if let Kind::Heading { text, .. } = &block.kind
            && let Some(before) = taken.insert(anchor(text), block.line)
        {
            let fault = format!(
                "the heading `{text}` has the anchor `{}`, which the heading on line {before} already has",
                anchor(text)
            );
            return Err(Malformed::at(block.line, fault));
        }
    }
    Ok(())
}

/// The blocks of a book that are still to be read.
struct Rest {
    blocks: iter::Peekable<vec::IntoIter<Block>>,
    last_line: usize,
}

impl Rest {
    /// Reads the introduction and the rules of a family up to the next section.
    fn family(&mut self, family: &str, line: usize) -> Result<Vec<Rule>, Malformed> {
        if !is_word(family) {
            let fault = format!("`{family}` is no family: expected lower-case letters, digits and `-`");
            return Err(Malformed::at(line, fault));
        }
        let (line_of_introduction, introduction) =
            self.paragraph(&format!("the sentence that introduces the family `{family}`"))?;
        sentence(&introduction, line_of_introduction)?;

        let mut rules = Vec::new();
        while let Some(block) = self.blocks.next_if(|block| !begins_section(block)) {
            let Kind::Heading { level: 3, text: id } = &block.kind else {
                let fault = format!("expected a heading `### {family}.…`, found {}", block.kind);
                return Err(Malformed::at(block.line, fault));
            };
            rules.push(self.rule(family, id, block.line)?);
        }
        if rules.is_empty() {
            return Err(Malformed::at(line, format!("the family `{family}` has no rule")));
        }
        Ok(rules)
    }

    /// Reads what follows the heading of a rule.
    fn rule(&mut self, family: &str, id: &str, line: usize) -> Result<Rule, Malformed> {
        if !is_rule_id(id) {
            let fault = format!(
                "`{id}` is no rule id: expected words of lower-case letters, digits and `-`, joined by dots"
            );
            return Err(Malformed::at(line, fault));
        }
        if id.split('.').next() != Some(family) {
            let fault = format!("the rule `{id}` stands under the family `{family}`");
            return Err(Malformed::at(line, fault));
        }

        let (line_of_standing, text) =
            self.paragraph(&format!("the line `*standing* · source` of `{id}`"))?;
        let (standing, source) = standing_and_source(&text, line_of_standing)?;

        let (line_of_sentence, text) = self.paragraph(&format!("the sentence of `{id}`"))?;
        if text.starts_with("Note:") {
            let fault = format!("expected the sentence of `{id}`, found {}", Kind::Paragraph(text));
            return Err(Malformed::at(line_of_sentence, fault));
        }
        let sentence = sentence(&text, line_of_sentence)?;

        let note = match self.blocks.next_if(|block| matches!(block.kind, Kind::Paragraph(_))) {
            Some(Block { line, kind: Kind::Paragraph(text) }) => Some(note(&text, id, line)?),
            _ => None,
        };
        Ok(Rule {
            id: id.to_owned(),
            family: family.to_owned(),
            sentence,
            standing,
            source,
            anchor: anchor(id),
            note,
            example: self.example(id)?,
            line,
        })
    }

    fn paragraph(&mut self, expected: &str) -> Result<(usize, String), Malformed> {
        match self.blocks.next() {
            Some(Block { line, kind: Kind::Paragraph(text) }) => Ok((line, text)),
            other => Err(self.unexpected(expected, other)),
        }
    }

    fn example(&mut self, id: &str) -> Result<String, Malformed> {
        match self.blocks.next() {
            Some(Block { line, kind: Kind::Fence { info, body } }) if info == "example" => {
                transcript(&body, id, line)?;
                Ok(body.join("\n"))
            }
            other => Err(self.unexpected(&format!("a fenced block `example` of `{id}`"), other)),
        }
    }

    fn unexpected(&self, expected: &str, found: Option<Block>) -> Malformed {
        match found {
            Some(block) => Malformed::at(block.line, format!("expected {expected}, found {}", block.kind)),
            None => Malformed::at(self.last_line, format!("expected {expected}, found the end of the book")),
        }
    }
}

fn begins_section(block: &Block) -> bool {
    matches!(block.kind, Kind::Heading { level, .. } if level < 3)
}

/// Whether a text is a rule's id: a family and at least one more word, joined by dots.
fn is_rule_id(text: &str) -> bool {
    text.contains('.') && text.split('.').all(is_word)
}

/// Whether a text is a word of an id: lower-case letters, digits and single hyphens, first a letter.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

fn standing_and_source(text: &str, line: usize) -> Result<(Standing, String), Malformed> {
    let parts = text.strip_prefix('*').and_then(|text| text.split_once("* · "));
    let Some((word, source)) = parts.filter(|(_, source)| !source.trim().is_empty()) else {
        let fault = format!("expected `*standing* · source`, found `{}`", beginning(text));
        return Err(Malformed::at(line, fault));
    };
    let Some(standing) = Standing::named(word) else {
        let known = Standing::ALL.map(|standing| format!("`{standing}`")).join(", ");
        let fault = format!("`{word}` is no standing: expected one of {known}");
        return Err(Malformed::at(line, fault));
    };
    Ok((standing, source.trim().to_owned()))
}

/// The plain text of a paragraph that must be one sentence.
fn sentence(text: &str, line: usize) -> Result<String, Malformed> {
    let plain = plain(text, line)?;
    if !plain.ends_with('.') {
        let fault = format!("expected a sentence that ends in a full stop, found `{}`", beginning(&plain));
        return Err(Malformed::at(line, fault));
    }
    let second = [". ", "! ", "? "].iter().find_map(|end| plain.split_once(end));
    if let Some((_, second)) = second {
        let fault = format!("expected one sentence, found a second one, `{}`", beginning(second));
        return Err(Malformed::at(line, fault));
    }
    Ok(plain)
}

fn note(text: &str, id: &str, line: usize) -> Result<String, Malformed> {
    match text.strip_prefix("Note:").map(str::trim) {
        None => {
            let fault = format!(
                "expected a paragraph `Note: …` or the example of `{id}` after its sentence, found `{}`",
                beginning(text)
            );
            Err(Malformed::at(line, fault))
        }
        Some("") => Err(Malformed::at(line, format!("the note of `{id}` is empty"))),
        Some(text) => plain(text, line),
    }
}

/// Checks the outer form of an example: operations, each followed by its answer, indented by two spaces.
fn transcript(body: &[String], id: &str, line_of_fence: usize) -> Result<(), Malformed> {
    let mut unanswered = None;
    for (line, text) in (line_of_fence + 1..).zip(body) {
        let content = text.trim_start_matches(' ');
        let indentation = text.len() - content.len();
        match indentation {
            _ if content.is_empty() => {
                return Err(Malformed::at(line, format!("an empty line in the example of `{id}`")));
            }
            0 => {
                if let Some(operation) = unanswered.replace(line) {
                    return Err(unanswered_operation(operation, id));
                }
            }
            2 if line > line_of_fence + 1 => unanswered = None,
            2 => {
                let fault = format!("the example of `{id}` begins with an answer: expected an operation");
                return Err(Malformed::at(line, fault));
            }
            _ => {
                let fault = format!(
                    "expected an operation without indentation or an answer indented by 2 spaces, found \
                     {indentation} spaces"
                );
                return Err(Malformed::at(line, fault));
            }
        }
    }
    match unanswered {
        Some(operation) => Err(unanswered_operation(operation, id)),
        None if body.is_empty() => {
            Err(Malformed::at(line_of_fence, format!("the example of `{id}` is empty")))
        }
        None => Ok(()),
    }
}

fn unanswered_operation(line: usize, id: &str) -> Malformed {
    Malformed::at(line, format!("an operation in the example of `{id}` has no answer after it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOK: &str = "\
# A book

Some prose. It may say anything.

## Rules: pin

These rules pin.

### pin.preamble

*documented* · the source, step 2

The [preamble](#preamble) is pinned in
its order, with `[` and all.

```example
pass A0 U1 A1 U2 A2 | turns 1
  pinned A0
  covered U1 A1
  preserved U2 A2
```

### pin.order

*chosen* · the source is silent

One [thing](#preamble) comes first.

Note: Not the [other](#preamble). Never.

```example
view
  -
view
  -
```

## Glossary

### preamble

What comes first.
";

    /// A passage of the book, what replaces it, and how the book so made is refused.
    const MALFORMED: &[(&str, &str, &str)] = &[
        (
            "  -\n```\n\n## Glossary",
            "  -\n\n## Glossary",
            "rules.md:31: the fence that opens here is never closed",
        ),
        (
            "## Rules: pin",
            "## Rule: pin",
            "rules.md:9: the rule `pin.preamble` stands under no heading `## Rules: …`",
        ),
        (
            "## Rules: pin",
            "## Rules: Pin",
            "rules.md:5: `Pin` is no family: expected lower-case letters, digits and `-`",
        ),
        (
            "These rules pin.\n\n",
            "",
            "rules.md:7: expected the sentence that introduces the family `pin`, found the heading \
             `pin.preamble`",
        ),
        (
            "These rules pin.",
            "They pin. And more.",
            "rules.md:7: expected one sentence, found a second one, `And more.`",
        ),
        (
            "These rules pin.",
            "These rules pin.\n\nThey are many.",
            "rules.md:9: expected a heading `### pin.…`, found the paragraph `They are many.`",
        ),
        (
            "## Glossary",
            "## Rules: log\n\nThey log.\n\n## Glossary",
            "rules.md:38: the family `log` has no rule",
        ),
        (
            "### pin.order",
            "### pin.preamble",
            "rules.md:23: the heading `pin.preamble` has the anchor `pinpreamble`, which the heading on \
             line 9 already has",
        ),
        (
            "### preamble",
            "### pinorder",
            "rules.md:40: the heading `pinorder` has the anchor `pinorder`, which the heading on line 23 \
             already has",
        ),
        ("### pin.order", "### log.order", "rules.md:23: the rule `log.order` stands under the family `pin`"),
        (
            "### pin.order",
            "### Pin order",
            "rules.md:23: `Pin order` is no rule id: expected words of lower-case letters, digits and \
             `-`, joined by dots",
        ),
        (
            "### pin.order",
            "### pin",
            "rules.md:23: `pin` is no rule id: expected words of lower-case letters, digits and `-`, \
             joined by dots",
        ),
        (
            "*chosen* · the",
            "*picked* · the",
            "rules.md:25: `picked` is no standing: expected one of `documented`, `derived`, `chosen`",
        ),
        (
            "*chosen* · the source is silent",
            "*chosen*",
            "rules.md:25: expected `*standing* · source`, found `*chosen*`",
        ),
        (
            "*chosen* · the source is silent\n\n",
            "",
            "rules.md:25: expected `*standing* · source`, found `One [thing](#preamble) comes first.`",
        ),
        (
            "One [thing](#preamble) comes first.\n\n",
            "",
            "rules.md:27: expected the sentence of `pin.order`, found the paragraph `Note: Not the \
             [other](#preamble). Never.`",
        ),
        (
            "The [preamble](#preamble) is pinned in\nits order, with `[` and all.\n\n",
            "",
            "rules.md:13: expected the sentence of `pin.preamble`, found a fenced block `example`",
        ),
        (
            "comes first.\n\nNote",
            "comes first\n\nNote",
            "rules.md:27: expected a sentence that ends in a full stop, found `One thing comes first`",
        ),
        (
            "comes first.\n\nNote",
            "comes first. One second.\n\nNote",
            "rules.md:27: expected one sentence, found a second one, `One second.`",
        ),
        (
            "comes first.\n\nNote",
            "comes first? One second.\n\nNote",
            "rules.md:27: expected one sentence, found a second one, `One second.`",
        ),
        (
            "One [thing](#preamble)",
            "One [thing]",
            "rules.md:27: expected a link `[text](#anchor)`, found `[thing] comes first.`",
        ),
        (
            "One [thing](#preamble)",
            "One [thing](https://example.org)",
            "rules.md:27: expected a link `[text](#anchor)`, found `[thing](https://example.org) comes \
             first.`",
        ),
        (
            "One [thing](#preamble)",
            "One `thing",
            "rules.md:27: the code span `thing comes first.` is not closed",
        ),
        (
            "Note: Not the",
            "Not the",
            "rules.md:29: expected a paragraph `Note: …` or the example of `pin.order` after its \
             sentence, found `Not the [other](#preamble). Never.`",
        ),
        (
            "Note: Not the [other](#preamble). Never.",
            "Note:",
            "rules.md:29: the note of `pin.order` is empty",
        ),
        (
            "Never.",
            "Never.\n\nNote: Twice.",
            "rules.md:31: expected a fenced block `example` of `pin.order`, found the paragraph `Note: \
             Twice.`",
        ),
        (
            "```example\npass",
            "```text\npass",
            "rules.md:16: expected a fenced block `example` of `pin.preamble`, found a fenced block \
             `text`",
        ),
        (
            "```example\nview\n  -\nview\n  -\n```\n\n## Glossary",
            "## Glossary",
            "rules.md:31: expected a fenced block `example` of `pin.order`, found the heading `Glossary`",
        ),
        ("view\n  -\nview\n  -\n", "", "rules.md:31: the example of `pin.order` is empty"),
        (
            "view\n  -\nview\n  -\n",
            "view\nview\n  -\n",
            "rules.md:32: an operation in the example of `pin.order` has no answer after it",
        ),
        (
            "view\n  -\nview\n  -\n",
            "view\n  -\nview\n",
            "rules.md:34: an operation in the example of `pin.order` has no answer after it",
        ),
        (
            "view\n  -\nview\n  -\n",
            "  -\nview\n  -\n",
            "rules.md:32: the example of `pin.order` begins with an answer: expected an operation",
        ),
        (
            "view\n  -\nview\n  -\n",
            "view\n  -\n\nview\n  -\n",
            "rules.md:34: an empty line in the example of `pin.order`",
        ),
        (
            "view\n  -\nview\n  -\n",
            "view\n    -\n",
            "rules.md:33: expected an operation without indentation or an answer indented by 2 spaces, \
             found 4 spaces",
        ),
        (
            "## Glossary",
            "And a last word.\n\n## Glossary",
            "rules.md:38: expected a heading `### pin.…`, found the paragraph `And a last word.`",
        ),
    ];

    /// The book with one passage, which must occur once, replaced by another.
    fn edited(passage: &str, by: &str) -> String {
        assert_eq!(BOOK.matches(passage).count(), 1, "{passage:?}");
        BOOK.replace(passage, by)
    }

    fn fault(text: &str) -> String {
        match parse(text) {
            Ok(rules) => panic!("well formed, with {} rules:\n{text}", rules.len()),
            Err(malformed) => malformed.to_string(),
        }
    }

    #[test]
    fn a_rule_is_read_with_all_its_parts() {
        let rules = parse(BOOK).unwrap();
        let [preamble, order] = rules.as_slice() else { panic!("{rules:?}") };
        assert_eq!(
            *preamble,
            Rule {
                id: "pin.preamble".into(),
                family: "pin".into(),
                sentence: "The preamble is pinned in its order, with `[` and all.".into(),
                standing: Standing::Documented,
                source: "the source, step 2".into(),
                anchor: "pinpreamble".into(),
                note: None,
                example: "pass A0 U1 A1 U2 A2 | turns 1\n  pinned A0\n  covered U1 A1\n  preserved U2 A2"
                    .into(),
                line: 9,
            }
        );
        assert_eq!(order.standing, Standing::Chosen);
        assert_eq!(order.note.as_deref(), Some("Not the other. Never."));
        assert_eq!(order.line, 23);
    }

    #[test]
    fn carriage_returns_change_nothing() {
        assert_eq!(parse(&BOOK.replace('\n', "\r\n")).unwrap(), parse(BOOK).unwrap());
    }

    #[test]
    fn a_malformed_book_is_refused_with_the_place_and_what_was_expected() {
        for &(passage, by, expected) in MALFORMED {
            assert_eq!(fault(&edited(passage, by)), expected, "{passage:?} replaced by {by:?}");
        }
    }

    #[test]
    fn a_book_that_ends_too_early_is_refused_at_its_last_line() {
        let cases = [
            ("*chosen*", "rules.md:24: expected the line `*standing* · source` of `pin.order`"),
            ("One [thing]", "rules.md:26: expected the sentence of `pin.order`"),
            ("Note: Not", "rules.md:28: expected a fenced block `example` of `pin.order`"),
            ("These rules", "rules.md:6: expected the sentence that introduces the family `pin`"),
        ];
        for (cut, expected) in cases {
            let (text, _) = BOOK.split_once(cut).unwrap();
            assert_eq!(fault(text), format!("{expected}, found the end of the book"));
        }
        assert_eq!(fault(""), "rules.md:1: expected a heading `## Rules: …` with rules, found none");
    }

    #[test]
    fn a_book_cut_anywhere_is_read_or_refused() {
        for (at, _) in BOOK.char_indices() {
            let (text, _) = BOOK.split_at(at);
            let _ = parse(text);
        }
    }

    #[test]
    fn the_place_of_a_fault_is_given_as_a_number_too() {
        assert_eq!(parse("").unwrap_err().line(), 1);
    }
}
