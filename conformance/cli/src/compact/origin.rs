//! What a chat format says of a message beyond the event: kept in the event, so that writing gives back what was read.
//!
//! An event's own fields hold what every format has: role, text, calls, responses, parts. Whatever else a message said
//! stands in `extra`, under the name of its format:
//!
//! ```json
//! {"id":"m3","role":"assistant","text":"",
//!  "tool_calls":[{"id":"c1","name":"ls","arguments":"{}"}],
//!  "openai":{"fields":{"content":null,"reasoning_content":"…"}}}
//! ```
//!
//! The writer makes the plain message of the event first; `fields` are laid over it and `absent` taken out of it. The
//! reader computes both as the difference between the plain message and the one it read, so that no field is forgotten.

use turnfold_core::{Object, Value};

use crate::compact::{
    content::Layout,
    value::{list, object, same, take, text},
};

/// What one format adds to an event, a tool call or a tool response.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Origin {
    /// Fields laid over the plain form, nested as there
    pub(crate) fields: Object,
    /// Fields of the plain form that weren't there, each as the path of names that leads to it
    pub(crate) absent: Vec<Vec<String>>,
    /// The order of what the content was made of, where it was a list
    pub(crate) content: Option<Layout>,
    /// The message's number, where two events were made of one
    pub(crate) message: Option<u64>,
    /// A form other than the plain one
    pub(crate) form: Option<String>,
}

impl Origin {
    /// What stands under a format's name in `extra`; nothing where it isn't ours.
    pub(crate) fn read(extra: &Object, format: &str) -> Option<Self> {
        let mut from = extra.get(format).and_then(object)?.clone();
        let fields = take(&mut from, "fields").as_ref().and_then(object).cloned().unwrap_or_default();
        let absent = take(&mut from, "absent");
        let absent = absent.as_ref().and_then(list).unwrap_or_default();
        let path = |path: &Value| list(path)?.iter().map(|name| text(name).map(String::from)).collect();
        Some(Self {
            fields,
            absent: absent.iter().filter_map(path).collect(),
            content: take(&mut from, "content").as_ref().and_then(Layout::read),
            message: match take(&mut from, "message") {
                Some(Value::Unsigned(number)) => Some(number),
                _ => None,
            },
            form: take(&mut from, "form").as_ref().and_then(text).map(String::from),
        })
    }

    /// Keeps it in `extra`, if there is something to keep.
    pub(crate) fn keep(self, extra: &mut Object, format: &str) {
        let mut kept = Object::new();
        if let Some(form) = self.form {
            kept.set("form", Value::String(form));
        }
        if let Some(layout) = &self.content {
            kept.set("content", layout.written());
        }
        if let Some(number) = self.message {
            kept.set("message", number);
        }
        if !self.fields.is_empty() {
            kept.set("fields", Value::Object(self.fields));
        }
        if !self.absent.is_empty() {
            let path = |path: Vec<String>| Value::Array(path.into_iter().map(Value::String).collect());
            kept.set("absent", Value::Array(self.absent.into_iter().map(path).collect()));
        }
        if !kept.is_empty() {
            extra.set(format, Value::Object(kept));
        }
    }

    /// The same, with the difference between what was read and the plain form.
    #[must_use]
    pub(crate) fn with_difference(mut self, plain: &Object, read: &Object) -> Self {
        self.fields = Object::new();
        self.absent = Vec::new();
        let mut path = Vec::new();
        difference(plain, read, &mut self.fields, &mut self.absent, &mut path);
        self
    }

    /// The form that was read, made from the plain one.
    pub(crate) fn apply(&self, mut plain: Object) -> Object {
        for path in &self.absent {
            remove(&mut plain, path);
        }
        lay_over(&mut plain, &self.fields);
        plain
    }
}

fn difference(
    plain: &Object,
    read: &Object,
    fields: &mut Object,
    absent: &mut Vec<Vec<String>>,
    path: &mut Vec<String>,
) {
    for (name, _) in &plain.0 {
        if read.get(name).is_none() {
            absent.push(path.iter().chain([name]).cloned().collect());
        }
    }
    for (name, _) in &read.0 {
        let Some(value) = read.get(name) else { continue };
        match (plain.get(name), value) {
            (Some(plain), value) if same(plain, value) => {}
            (Some(Value::Object(plain)), Value::Object(read)) => {
                let mut nested = Object::new();
                path.push(name.clone());
                difference(plain, read, &mut nested, absent, path);
                path.pop();
                if !nested.is_empty() {
                    fields.set(name, Value::Object(nested));
                }
            }
            (_, value) => fields.set(name, value.clone()),
        }
    }
}

fn remove(from: &mut Object, path: &[String]) {
    match path {
        [] => {}
        [name] => from.0.retain(|(field, _)| field != name),
        [name, rest @ ..] => {
            for (field, value) in &mut from.0 {
                if let (true, Value::Object(nested)) = (field == name, value) {
                    remove(nested, rest);
                }
            }
        }
    }
}

fn lay_over(onto: &mut Object, fields: &Object) {
    for (name, value) in &fields.0 {
        let held = onto.0.iter_mut().find(|(field, _)| field == name).map(|(_, held)| held);
        match (held, value) {
            (Some(Value::Object(held)), Value::Object(over)) => lay_over(held, over),
            (Some(held), value) => *held = value.clone(),
            (None, value) => onto.0.push((name.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(json: &str) -> Object {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_difference_leads_from_the_plain_form_to_what_was_read() {
        let forms = [
            "{}",
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"user","content":null}"#,
            r#"{"role":"user"}"#,
            r#"{"role":"developer","content":[{"type":"text"}],"name":"bo","":1}"#,
            r#"{"id":"c","function":{"name":"ls","arguments":"{}"}}"#,
            r#"{"id":"c","function":{"arguments":{"a":{}},"parsed":{}},"index":0}"#,
            r#"{"id":"c","function":7}"#,
            r#"{"id":"c","function":{}}"#,
            r#"{"id":"c","function":{"deep":{"er":{"x":null}}}}"#,
            r#"{"id":"c","function":{"deep":{"er":{}}}}"#,
        ];
        for plain in forms {
            for read in forms {
                let origin = Origin::default().with_difference(&fields(plain), &fields(read));
                let given = origin.apply(fields(plain));
                assert!(same(&Value::Object(given), &Value::Object(fields(read))), "{plain} to {read}");

                let mut extra = Object::new();
                origin.clone().keep(&mut extra, "openai");
                assert_eq!(Origin::read(&extra, "openai").unwrap_or_default(), origin);
                assert_eq!(
                    extra.is_empty(),
                    same(&Value::Object(fields(plain)), &Value::Object(fields(read)))
                );
            }
        }
    }

    #[test]
    fn what_is_not_ours_is_passed_over() {
        for extra in ["{}", r#"{"openai":7}"#] {
            assert_eq!(Origin::read(&fields(extra), "openai"), None);
        }
        let odd =
            fields(r#"{"openai":{"fields":1,"absent":[1,["a",2],["b"]],"content":[-1],"message":"x"}}"#);
        let origin = Origin::read(&odd, "openai").unwrap();
        assert_eq!(origin, Origin { absent: vec![vec!["b".into()]], ..Origin::default() });
    }
}
