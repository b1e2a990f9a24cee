//! Content that is a list: its texts joined into the event's text, the rest set apart, and the order kept.
//!
//! A [`Layout`] is that order, as JSON: a number takes as many characters of the text (texts are joined by a newline),
//! `"part"` the next of the event's parts, `"call"` its next tool call, `"response"` its next tool response. A text block
//! that said more than its text is `{"chars":n,"fields":{…}}`, a string that stood without a block `{"chars":n,"bare":true}`.

use std::slice;

use turnfold_core::{Event, Message, Object, ToolResponse, Value};

use crate::compact::{
    dialogue::Format,
    origin::Origin,
    value::{field, list, object, object_of, text, text_field},
};

/// One place in a content list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// So many characters of the text
    Text {
        /// How many
        chars: usize,
        /// What the block said beside its text, laid over `{"type":"text"}`
        fields: Object,
        /// Whether it was a string without a block
        bare: bool,
    },
    /// The next part
    Part,
    /// The next tool call
    Call,
    /// The next tool response
    Response,
}

/// The order of a content list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout(pub(crate) Vec<Item>);

impl Layout {
    /// Reads what [`Layout::written`] wrote.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        list(value)?.iter().map(Item::read).collect::<Option<Vec<_>>>().map(Self)
    }

    /// As JSON.
    pub(crate) fn written(&self) -> Value {
        Value::Array(self.0.iter().map(Item::written).collect())
    }

    fn texts(&self) -> usize {
        self.0.iter().filter(|item| matches!(item, Item::Text { .. })).count()
    }
}

impl Item {
    fn read(value: &Value) -> Option<Self> {
        let plain = |chars: &u64| usize::try_from(*chars).ok();
        match value {
            Value::Unsigned(chars) => {
                Some(Self::Text { chars: plain(chars)?, fields: Object::new(), bare: false })
            }
            Value::String(name) => match name.as_str() {
                "part" => Some(Self::Part),
                "call" => Some(Self::Call),
                "response" => Some(Self::Response),
                _ => None,
            },
            Value::Object(item) => {
                let Some(Value::Unsigned(chars)) = item.get("chars") else { return None };
                let fields = item.get("fields").and_then(object).cloned().unwrap_or_default();
                let bare = item.get("bare") == Some(&Value::Bool(true));
                Some(Self::Text { chars: plain(chars)?, fields, bare })
            }
            _ => None,
        }
    }

    fn written(&self) -> Value {
        match self {
            Self::Part => "part".into(),
            Self::Call => "call".into(),
            Self::Response => "response".into(),
            Self::Text { chars, fields, bare } => {
                let chars = Value::Unsigned(*chars as u64);
                if fields.is_empty() && !bare {
                    return chars;
                }
                let mut item = object_of([("chars", chars)]);
                if *bare {
                    item.set("bare", true);
                }
                if !fields.is_empty() {
                    item.set("fields", Value::Object(fields.clone()));
                }
                Value::Object(item)
            }
        }
    }
}

/// A content list as it is taken apart.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// The texts, joined
    pub(crate) text: String,
    /// The order, where it was a list
    pub(crate) layout: Option<Layout>,
    /// What isn't text
    pub(crate) parts: Vec<Value>,
}

impl Content {
    /// Content of a plain text.
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Content of a list: texts and parts.
    pub(crate) fn list(items: &[Value]) -> Self {
        let mut content = Self { layout: Some(Layout::default()), ..Self::default() };
        for item in items {
            content.add(item);
        }
        content
    }

    /// Adds a text block as text, anything else as a part.
    pub(crate) fn add(&mut self, item: &Value) {
        let Some((words, item)) = text_block(item) else {
            self.parts.push(item.clone());
            return self.place(Item::Part);
        };
        if self.layout.as_ref().is_some_and(|layout| layout.texts() > 0) {
            self.text.push('\n');
        }
        self.text.push_str(words);
        self.place(item);
    }

    /// Notes what comes next.
    pub(crate) fn place(&mut self, item: Item) {
        self.layout.get_or_insert_default().0.push(item);
    }
}

/// The text of a text block or a bare string, and how it stood.
fn text_block(value: &Value) -> Option<(&str, Item)> {
    let chars = |text: &str| text.chars().count();
    if let Some(words) = text(value) {
        return Some((words, Item::Text { chars: chars(words), fields: Object::new(), bare: true }));
    }
    let kind = text_field(value, "type")?;
    if !matches!(kind, "text" | "input_text" | "output_text") {
        return None;
    }
    let words = text_field(value, "text")?;
    let mut fields = object(value)?.clone();
    fields.0.retain(|(name, field)| name != "text" && !(name == "type" && text(field) == Some("text")));
    Some((words, Item::Text { chars: chars(words), fields, bare: false }))
}

/// One piece of content on its way out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece<'e> {
    /// A text, with what its block said beside it
    Text {
        /// The text
        text: &'e str,
        /// The block's other fields
        fields: Object,
        /// Whether it was a string without a block
        bare: bool,
    },
    /// A part
    Part(&'e Value),
    /// The next tool call
    Call,
    /// The next tool response
    Response,
}

impl<'e> Piece<'e> {
    /// A text of its own.
    pub(crate) fn text(text: &'e str) -> Self {
        Self::Text { text, fields: Object::new(), bare: false }
    }
}

/// Takes text and parts in the order of a layout; nothing where they don't fit it, as when somebody edited the text.
pub(crate) fn pieces<'e>(
    layout: &Layout,
    text: &'e str,
    parts: &mut slice::Iter<'e, Value>,
) -> Option<Vec<Piece<'e>>> {
    let mut rest = text;
    let mut left = layout.texts();
    if left == 0 && !text.is_empty() {
        return None;
    }
    let mut pieces = Vec::with_capacity(layout.0.len());
    for item in &layout.0 {
        pieces.push(match item {
            Item::Part => Piece::Part(parts.next()?),
            Item::Call => Piece::Call,
            Item::Response => Piece::Response,
            Item::Text { chars, fields, bare } => {
                let end = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(*chars)?;
                let (words, after) = rest.split_at_checked(end)?;
                left = left.saturating_sub(1);
                rest = if left > 0 { after.strip_prefix('\n')? } else { after };
                Piece::Text { text: words, fields: fields.clone(), bare: *bare }
            }
        });
    }
    rest.is_empty().then_some(pieces)
}

/// The content of a message or a response on its way out, and the format whose order it has, if one's.
#[derive(Debug)]
pub(crate) struct Pieces<'e> {
    /// In order
    pub(crate) pieces: Vec<Piece<'e>>,
    /// Whose list it was
    pub(crate) format: Option<Format>,
}

const CHATS: [Format; 2] = [Format::Openai, Format::Anthropic];

fn layout(extra: &Object, format: Format) -> Option<Layout> {
    Origin::read(extra, format.as_str())?.content
}

/// Text and parts of a message, tool calls and responses where its origin had them; without an origin the text, then
/// the parts.
pub(crate) fn of_message<'e>(event: &'e Event, message: &'e Message) -> Pieces<'e> {
    let listed = |format: Format| {
        let layout = layout(&event.extra, format)?;
        let mut parts = message.parts.iter();
        let pieces = pieces(&layout, &message.text, &mut parts)?;
        parts.next().is_none().then_some(Pieces { pieces, format: Some(format) })
    };
    CHATS.into_iter().find_map(listed).unwrap_or_else(|| {
        let text = Some(message.text.as_str()).filter(|text| !text.is_empty()).map(Piece::text);
        let pieces = text.into_iter().chain(message.parts.iter().map(Piece::Part)).collect();
        Pieces { pieces, format: None }
    })
}

/// Text and parts of a tool response. The parts are the event's: each response takes its own in turn, and the last one
/// whatever is left.
pub(crate) fn of_response<'e>(
    event: &'e Event,
    message: &'e Message,
    response: &'e ToolResponse,
    last: bool,
    parts: &mut slice::Iter<'e, Value>,
) -> Pieces<'e> {
    let own = layout(&response.extra, Format::Anthropic).map(|layout| (layout, Format::Anthropic));
    let whole = || {
        let layout = layout(&event.extra, Format::Openai).filter(|_| message.tool_responses.len() == 1)?;
        Some((layout, Format::Openai))
    };
    let listed = own.or_else(whole).and_then(|(layout, format)| {
        let mut ahead = parts.clone();
        let pieces = pieces(&layout, &response.text, &mut ahead)?;
        *parts = ahead;
        Some(Pieces { pieces, format: Some(format) })
    });
    let mut given = listed.unwrap_or_else(|| {
        let text = Some(response.text.as_str()).filter(|text| !text.is_empty()).map(Piece::text);
        Pieces { pieces: text.into_iter().collect(), format: None }
    });
    if last {
        given.pieces.extend(parts.map(Piece::Part));
    }
    given
}

/// A text block, or the bare string it was.
pub(crate) fn written_text(text: &str, fields: &Object, bare: bool) -> Value {
    if bare {
        return text.into();
    }
    let mut block = object_of([("type", "text".into()), ("text", text.into())]);
    for (name, value) in &fields.0 {
        block.set(name, value.clone());
    }
    Value::Object(block)
}

/// A part's `type`, or what stands for it in a count.
pub(crate) fn part_type(part: &Value) -> String {
    match field(part, "type").and_then(text) {
        Some(kind) => kind.into(),
        None => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(json: &str) -> Vec<Value> {
        serde_json::from_str(json).unwrap()
    }

    fn given_back(content: &Content) -> Option<Vec<Value>> {
        let layout = Layout::read(&content.layout.as_ref()?.written())?;
        let pieces = pieces(&layout, &content.text, &mut content.parts.iter())?;
        let block = |piece: &Piece<'_>| match piece {
            Piece::Text { text, fields, bare } => written_text(text, fields, *bare),
            Piece::Part(part) => (*part).clone(),
            Piece::Call | Piece::Response => Value::Null,
        };
        Some(pieces.iter().map(block).collect())
    }

    #[test]
    fn a_list_is_given_back_as_it_was() {
        for json in [
            "[]",
            r#"[{"type":"text","text":""}]"#,
            r#"[{"type":"text","text":""},{"type":"text","text":""}]"#,
            r#"[{"type":"text","text":"é\nb"},{"type":"image_url"},{"type":"text","text":"\n"},{"type":"text","text":"ü"}]"#,
            r#"["bare",{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]"#,
            r#"[{"type":"input_text","text":"x"},7,null,[1],{"text":"no type"},{"type":"text","text":3}]"#,
        ] {
            let content = Content::list(&items(json));
            let given = given_back(&content).unwrap();
            assert!(crate::compact::value::same(&Value::Array(given), &Value::Array(items(json))), "{json}");
        }
        let content =
            Content::list(&items(r#"[{"type":"text","text":"a"},{"x":1},{"type":"text","text":"b"}]"#));
        assert_eq!((content.text.as_str(), content.parts.len()), ("a\nb", 1));
    }

    #[test]
    fn an_edited_text_fits_no_more() {
        let mut content =
            Content::list(&items(r#"[{"type":"text","text":"ab"},{"type":"text","text":"c"}]"#));
        for edited in ["ab c", "ab\n", "ab\ncd", "a", ""] {
            content.text = edited.into();
            assert_eq!(given_back(&content), None, "{edited:?}");
        }
        content.text = "xy\nz".into();
        assert!(given_back(&content).is_some());
    }
}
