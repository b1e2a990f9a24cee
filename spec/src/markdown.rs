//! The little of markdown that a rule book is made of: headings, paragraphs, fenced blocks and links.

use std::fmt;

use crate::book::Malformed;

/// A block of markdown and the line on which it begins.
pub(crate) struct Block {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Heading { level: usize, text: String },
    Paragraph(String),
    Fence { info: String, body: Vec<String> },
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heading { text, .. } => write!(f, "the heading `{text}`"),
            Self::Paragraph(text) => write!(f, "the paragraph `{}`", beginning(text)),
            Self::Fence { info, .. } => write!(f, "a fenced block `{info}`"),
        }
    }
}

/// The first words of a text, for a message.
pub(crate) fn beginning(text: &str) -> String {
    const WORDS: usize = 6;
    let mut words = text.split_whitespace();
    let begin: Vec<&str> = words.by_ref().take(WORDS).collect();
    let more = if words.next().is_some() { " …" } else { "" };
    format!("{}{more}", begin.join(" "))
}

/// Divides a text into headings, fences and paragraphs.
pub(crate) fn blocks(text: &str) -> Result<Vec<Block>, Malformed> {
    let mut blocks = Vec::new();
    let mut paragraph: Option<(usize, String)> = None;
    let mut lines = (1..).zip(text.lines());
    while let Some((line, content)) = lines.next() {
        let heading = heading(content);
        let fence = content.strip_prefix("```");
        if (content.trim().is_empty() || heading.is_some() || fence.is_some())
            && let Some((line, text)) = paragraph.take()
        {
            blocks.push(Block { line, kind: Kind::Paragraph(text) });
        }
        if let Some(kind) = heading {
            blocks.push(Block { line, kind });
        } else if let Some(info) = fence {
            let mut body = Vec::new();
            loop {
                match lines.next() {
                    Some((_, "```")) => break,
                    Some((_, content)) => body.push(content.to_owned()),
                    None => return Err(Malformed::at(line, "the fence that opens here is never closed")),
                }
            }
            blocks.push(Block { line, kind: Kind::Fence { info: info.trim().to_owned(), body } });
        } else if !content.trim().is_empty() {
            match &mut paragraph {
                Some((_, text)) => {
                    text.push(' ');
                    text.push_str(content.trim());
                }
                None => paragraph = Some((line, content.trim().to_owned())),
            }
        }
    }
    if let Some((line, text)) = paragraph {
        blocks.push(Block { line, kind: Kind::Paragraph(text) });
    }
    Ok(blocks)
}

fn heading(line: &str) -> Option<Kind> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let text = text.strip_prefix(' ')?.trim();
    (1..=6).contains(&level).then(|| Kind::Heading { level, text: text.to_owned() })
}

/// A text with each link replaced by what it links; code spans stay as they are.
pub(crate) fn plain(text: &str, line: usize) -> Result<String, Malformed> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(['[', '`']) {
        plain.push_str(before);
        let is_code = rest.strip_prefix(before).is_some_and(|rest| rest.starts_with('`'));
        rest = if is_code {
            let Some((code, after)) = after.split_once('`') else {
                let fault = format!("the code span `{}` is not closed", beginning(after));
                return Err(Malformed::at(line, fault));
            };
            plain.push('`');
            plain.push_str(code);
            plain.push('`');
            after
        } else {
            let parts = after
                .split_once("](#")
                .filter(|(linked, _)| !linked.contains([']', '[']))
                .and_then(|(linked, after)| Some((linked, after.split_once(')')?.1)));
            let Some((linked, after)) = parts else {
                let fault = format!("expected a link `[text](#anchor)`, found `[{}`", beginning(after));
                return Err(Malformed::at(line, fault));
            };
            plain.push_str(linked);
            after
        };
    }
    plain.push_str(rest);
    Ok(plain)
}
