//! Open data an event carries without our reading it: metadata, payloads, non-text parts, unknown fields.

use alloc::{string::String, vec::Vec};

/// A JSON value, kept as it came.
///
/// Numbers outside 64 bits are read as the nearest `f64`, as RFC 8259 section 6 expects of interoperable software.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer below zero
    Negative(i64),
    /// An integer from zero up
    Unsigned(u64),
    /// Any other number
    Float(f64),
    /// A string
    String(String),
    /// A list
    Array(Vec<Self>),
    /// An object
    Object(Object),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Unsigned(number)
    }
}

/// A JSON object in the order of its fields, repeated names included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(pub Vec<(String, Value)>);

impl Object {
    /// An object without fields.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of a field; of a repeated name the last one, as most readers take it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// Adds or replaces a field.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        match self.0.iter_mut().rev().find(|(field, _)| field == name) {
            Some((_, held)) => *held = value,
            None => self.0.push((name.into(), value)),
        }
    }

    /// Whether it has no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
