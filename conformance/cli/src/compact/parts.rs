//! Parts that aren't text, from one chat format to the other: pictures and files. Everything else stays where it came from.

use turnfold_core::Value;

use crate::compact::{
    losses::Losses,
    value::{field, object_of, text_field},
};

/// A part as OpenAI has it; counted where it has none.
pub(crate) fn to_openai(part: &Value, losses: &mut Losses) -> Option<Value> {
    let converted = match text_field(part, "type") {
        Some("image_url" | "input_audio" | "file" | "refusal") => return Some(part.clone()),
        Some("image") => picture_url(part).map(|url| {
            let link = object_of([("url", Value::String(url))]);
            object_of([("type", "image_url".into()), ("image_url", Value::Object(link))])
        }),
        Some("document") => field(part, "source").and_then(data_url).map(|url| {
            let mut file = object_of([("file_data", Value::String(url))]);
            if let Some(title) = text_field(part, "title") {
                file.set("filename", title);
            }
            object_of([("type", "file".into()), ("file", Value::Object(file))])
        }),
        _ => None,
    };
    settle(converted.map(Value::Object), part, &["type", "source", "title"], losses)
}

/// A part as Anthropic has it; counted where it has none.
pub(crate) fn to_anthropic(part: &Value, losses: &mut Losses) -> Option<Value> {
    let kind = text_field(part, "type").unwrap_or_default();
    let converted = match kind {
        "image" | "document" | "thinking" | "redacted_thinking" | "search_result" | "server_tool_use"
        | "mcp_tool_use" | "container_upload" => return Some(part.clone()),
        _ if kind.ends_with("_tool_result") => return Some(part.clone()),
        "image_url" => field(part, "image_url")
            .and_then(|link| text_field(link, "url"))
            .map(|url| object_of([("type", "image".into()), ("source", source(url))])),
        "file" => field(part, "file").and_then(|file| {
            let url = text_field(file, "file_data").filter(|url| url.starts_with("data:"))?;
            let mut document = object_of([("type", "document".into()), ("source", source(url))]);
            if let Some(name) = text_field(file, "filename") {
                document.set("title", name);
            }
            Some(document)
        }),
        _ => None,
    };
    if field(part, "image_url").and_then(|link| field(link, "detail")).is_some() {
        losses.count("`detail` of a picture");
    }
    settle(converted.map(Value::Object), part, &["type", "image_url", "file"], losses)
}

/// Counts the part where it wasn't converted, else the fields that the conversion doesn't read.
fn settle(converted: Option<Value>, part: &Value, read: &[&str], losses: &mut Losses) -> Option<Value> {
    match (&converted, part) {
        (Some(_), Value::Object(fields)) => {
            for (name, _) in fields.0.iter().filter(|(name, _)| !read.contains(&name.as_str())) {
                losses.count(format!("`{name}` of a part"));
            }
        }
        _ => losses.count(format!("part of type `{}`", crate::compact::content::part_type(part))),
    }
    converted
}

fn picture_url(part: &Value) -> Option<String> {
    let source = field(part, "source")?;
    match text_field(source, "type")? {
        "url" => text_field(source, "url").map(String::from),
        _ => data_url(source),
    }
}

fn data_url(source: &Value) -> Option<String> {
    match text_field(source, "type")? {
        "base64" => {
            Some(format!("data:{};base64,{}", text_field(source, "media_type")?, text_field(source, "data")?))
        }
        _ => None,
    }
}

fn source(url: &str) -> Value {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    Value::Object(match inline {
        Some((media_type, data)) => {
            object_of([("type", "base64".into()), ("media_type", media_type.into()), ("data", data.into())])
        }
        None => object_of([("type", "url".into()), ("url", url.into())]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn pictures_and_files_travel_both_ways() {
        for (openai, anthropic) in [
            (
                r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}"#,
                r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}"#,
            ),
            (
                r#"{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}"#,
                r#"{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}"#,
            ),
            (
                r#"{"type":"file","file":{"file_data":"data:application/pdf;base64,AA==","filename":"a.pdf"}}"#,
                r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA=="},"title":"a.pdf"}"#,
            ),
        ] {
            let mut losses = Losses::default();
            assert_eq!(to_anthropic(&value(openai), &mut losses), Some(value(anthropic)));
            assert_eq!(to_openai(&value(anthropic), &mut losses), Some(value(openai)));
            assert!(losses.is_empty(), "{losses}");
        }
    }

    #[test]
    fn what_has_no_other_form_is_counted() {
        let mut losses = Losses::default();
        for json in
            [r#"{"type":"thinking","thinking":"hm"}"#, r#"{"x":1}"#, "7", r#"{"type":"image","source":{}}"#]
        {
            assert_eq!(to_openai(&value(json), &mut losses), None);
        }
        let cached = r#"{"type":"image","source":{"type":"url","url":"u"},"cache_control":{}}"#;
        assert!(to_openai(&value(cached), &mut losses).is_some());
        let detailed = r#"{"type":"image_url","image_url":{"url":"u","detail":"low"}}"#;
        assert!(to_anthropic(&value(detailed), &mut losses).is_some());
        assert_eq!(to_anthropic(&value(r#"{"type":"input_audio","input_audio":{}}"#), &mut losses), None);
        assert_eq!(
            losses.to_string(),
            "1 × `cache_control` of a part, 1 × `detail` of a picture, 1 × part of type `image`, \
             1 × part of type `input_audio`, 1 × part of type `thinking`, 2 × part of type `unknown`"
        );
    }
}
