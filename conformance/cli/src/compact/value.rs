//! How this command looks into open JSON values, and what it calls them in an error.

use turnfold_core::{Object, Value};

/// The text of a string.
pub(crate) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// The items of a list.
pub(crate) fn list(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

/// The fields of an object.
pub(crate) fn object(value: &Value) -> Option<&Object> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// The value of a field, where `value` is an object that has it.
pub(crate) fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    object(value)?.get(name)
}

/// The text of a field, where it is a string.
pub(crate) fn text_field<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    field(value, name).and_then(text)
}

/// An object of these fields in this order.
pub(crate) fn object_of<const N: usize>(fields: [(&str, Value); N]) -> Object {
    Object(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// Takes a field out of an object, all its repetitions included, and gives the last one.
pub(crate) fn take(object: &mut Object, name: &str) -> Option<Value> {
    let value = object.get(name).cloned();
    object.0.retain(|(field, _)| field != name);
    value
}

/// As JSON on one line.
pub(crate) fn written(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Whether two values are the same JSON: the order of fields doesn't count, of a repeated one the last counts.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let holds = |a: &Object, b: &Object| {
                a.0.iter().all(|(name, _)| match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => same(a, b),
                    _ => false,
                })
            };
            holds(one, other) && holds(other, one)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => one == other,
    }
}

/// What a value is, for an error message.
pub(crate) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(truth) => format!("`{truth}`"),
        Value::Negative(_) | Value::Unsigned(_) | Value::Float(_) => {
            format!("the number `{}`", written(value))
        }
        Value::String(text) => format!("the string `{}`", shortened(text)),
        Value::Array(items) => match items.first() {
            None => "an empty list".into(),
            Some(Value::Array(_)) => "a list of lists".into(),
            Some(first) => format!("a list that begins with {}", found(first)),
        },
        Value::Object(object) => object_found(object),
    }
}

fn object_found(object: &Object) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<_> =
        object.0.iter().take(SHOWN).map(|(name, _)| format!("`{}`", shortened(name))).collect();
    match object.0.len().checked_sub(SHOWN) {
        _ if names.is_empty() => return "an object without fields".into(),
        Some(more @ 1..) => names.push(format!("{more} more")),
        Some(0) | None => {}
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() {
        format!("an object with {last}")
    } else {
        format!("an object with {} and {last}", names.join(", "))
    }
}

/// The beginning of a text on one line.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String =
        text.chars().take(SHOWN).map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn values_are_named_for_a_person() {
        for (json, name) in [
            ("null", "null"),
            ("true", "`true`"),
            ("-1.5", "the number `-1.5`"),
            (r#""a`\n""#, "the string `a  `"),
            ("[]", "an empty list"),
            ("[1,2]", "a list that begins with the number `1`"),
            ("[[1]]", "a list of lists"),
            (r#"[{"a":1}]"#, "a list that begins with an object with `a`"),
            ("{}", "an object without fields"),
            (r#"{"a":1}"#, "an object with `a`"),
            (r#"{"a":1,"b":2,"c":3}"#, "an object with `a`, `b` and `c`"),
            (
                r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}"#,
                "an object with `a`, `b`, `c`, `d`, `e`, `f` and 2 more",
            ),
        ] {
            assert_eq!(found(&value(json)), name);
        }
    }

    #[test]
    fn the_same_json_in_another_order_is_the_same() {
        assert!(same(&value(r#"{"a":1,"b":[{"c":2,"d":3}]}"#), &value(r#"{"b":[{"d":3,"c":2}],"a":1}"#)));
        assert!(same(&value(r#"{"a":1,"a":2}"#), &value(r#"{"a":2}"#)));
        for (one, other) in [(r#"{"a":1}"#, "{}"), ("{}", r#"{"a":1}"#), ("[1]", "[1,2]"), ("1", "1.0")] {
            assert!(!same(&value(one), &value(other)), "{one} {other}");
        }
    }
}
