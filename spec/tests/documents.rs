//! Holds the documents to the schemas: every example of a message is one, every form of message has an example,
//! and the schemas refuse what they are there to refuse.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::{Registry, Validator};
use serde_json::{Value, json};
use turnfold_spec::documents::{LOG_FORMAT, PROTOCOL, SCHEMA_BASE, schemas};
use turnfold_spec::{RULE_BOOK, Rule, anchor};

/// What a line before a fenced block says that the block is.
const MARKERS: [(&str, &str); 7] = [
    ("Suite to subject:", "request.json"),
    ("Subject to suite:", "answer.json"),
    ("Event:", "event.json"),
    ("Window:", "window.json"),
    ("Trigger:", "trigger.json"),
    ("Pass vector:", "vector.json"),
    ("Session vector:", "vector.json"),
];

fn spec() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn schema(name: &str) -> Value {
    let (_, text) =
        schemas().iter().find(|(file, _)| *file == name).unwrap_or_else(|| panic!("no schema `{name}`"));
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// One validator a schema. They know each other by `$id`, and nothing is fetched.
struct Validators(BTreeMap<&'static str, Validator>);

impl Validators {
    fn new() -> Self {
        let resources = schemas().iter().map(|(name, _)| (format!("{SCHEMA_BASE}{name}"), schema(name)));
        let registry = Registry::new()
            .extend(resources)
            .expect("the ids are addresses")
            .prepare()
            .expect("references resolve");
        let validator = |name| {
            jsonschema::options()
                .offline()
                .with_registry(&registry)
                .build(&schema(name))
                .unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        Self(schemas().iter().map(|(name, _)| (*name, validator(name))).collect())
    }

    /// Why a value isn't one of a schema's.
    fn fault(&self, name: &str, value: &Value) -> Option<String> {
        let validator = self.0.get(name).unwrap_or_else(|| panic!("no schema `{name}`"));
        validator.validate(value).err().map(|error| {
            format!("no {name}: {error}, at `{}`, by `{}`", error.instance_path(), error.schema_path())
        })
    }
}

/// A fenced block, and the last line of text before it.
struct Fence<'t> {
    line: usize,
    info: &'t str,
    before: &'t str,
    body: Vec<&'t str>,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let (mut fences, mut before) = (Vec::new(), "");
    let mut lines = (1..).zip(text.lines());
    while let Some((line, content)) = lines.next() {
        if let Some(info) = content.strip_prefix("```") {
            let body =
                lines.by_ref().map(|(_, content)| content).take_while(|content| *content != "```").collect();
            fences.push(Fence { line, info, before, body });
            before = "";
        } else if !content.is_empty() {
            before = content;
        }
    }
    fences
}

/// An example: the schema it is one of, and the value.
type Example = (&'static str, Value);

/// The examples of a document, or what is wrong with them. `unmarked` is the schema of blocks without a marker.
fn examples(
    text: &str,
    unmarked: Option<&'static str>,
    validators: &Validators,
) -> Result<Vec<Example>, Vec<String>> {
    let (mut examples, mut faults) = (Vec::new(), Vec::new());
    for fence in fences(text) {
        let read = match (fence.info, unmarked) {
            ("json", _) => value(&fence, unmarked).map(|example| vec![example]),
            ("jsonl", None) => dialogue(&fence.body, validators),
            ("jsonl", Some(schema)) => {
                fence.body.iter().map(|line| parsed(line).map(|value| (schema, value))).collect()
            }
            _ => continue,
        };
        let checked = read.and_then(|examples| {
            let fault = examples.iter().find_map(|(schema, value)| validators.fault(schema, value));
            fault.map_or(Ok(examples), Err)
        });
        match checked {
            Ok(found) => examples.extend(found),
            Err(fault) => faults.push(format!("line {}: {fault}", fence.line)),
        }
    }
    if faults.is_empty() { Ok(examples) } else { Err(faults) }
}

fn parsed(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|error| format!("`{line}` is no JSON: {error}"))
}

fn value(fence: &Fence<'_>, unmarked: Option<&'static str>) -> Result<Example, String> {
    let schema = MARKERS
        .iter()
        .find_map(|(marker, schema)| (*marker == fence.before).then_some(*schema))
        .or(unmarked)
        .ok_or_else(|| {
            format!("the line before the block is `{}`, expected one that says what it is", fence.before)
        })?;
    let value = parsed(&fence.body.join("\n"))?;
    let is_field = schema == "log-record.json" && value.get("hints").is_some() && value.get("id").is_none();
    Ok((schema, if is_field { on_a_boundary(&value) } else { value }))
}

/// A record made of fields that are shown by themselves.
fn on_a_boundary(fields: &Value) -> Value {
    let mut record = json!({"id": "b1", "type": "COMPACTION", "payload": {"pinned": [], "preserved": []}});
    let fields = fields.as_object().cloned().unwrap_or_default();
    record.as_object_mut().expect("an object").extend(fields);
    record
}

/// A dialogue's messages. Every request is answered once; a request that the schema doesn't know is one that the
/// subject doesn't know either.
fn dialogue(lines: &[&str], validators: &Validators) -> Result<Vec<Example>, String> {
    const CALLBACKS: [&str; 3] = ["summarize", "read", "write"];
    const REPLIES: [&str; 4] = ["summary", "events", "written", "refused"];
    let mut examples = Vec::new();
    let mut open: BTreeMap<u64, bool> = BTreeMap::new(); // by id, whether the request is a known one
    for line in lines {
        let (to_subject, text) = match (line.strip_prefix("> "), line.strip_prefix("< ")) {
            (Some(text), _) => (true, text),
            (_, Some(text)) => (false, text),
            _ => return Err(format!("`{line}` begins neither with `> ` nor with `< `")),
        };
        let message = parsed(text)?;
        let id = message.get("id").and_then(Value::as_u64).ok_or_else(|| format!("`{text}` has no id"))?;
        let has = |names: &[&str]| names.iter().any(|name| message.get(name).is_some());
        if to_subject {
            let known = validators.fault("request.json", &message);
            let is_reply = has(&REPLIES) || message.get("version").is_some_and(Value::is_number);
            if is_reply != open.contains_key(&id) {
                return Err(format!(
                    "`{text}` is neither a request with a new id nor a reply to an open one"
                ));
            }
            if let (Some(fault), true) = (&known, is_reply) {
                return Err(fault.clone());
            }
            if !is_reply {
                open.insert(id, known.is_none());
            }
            if known.is_none() {
                examples.push(("request.json", message));
            }
        } else {
            let known = *open.get(&id).ok_or_else(|| format!("`{text}` answers no open request"))?;
            if !has(&CALLBACKS) {
                open.remove(&id);
            }
            if !known && !has(&["unsupported"]) {
                return Err(format!("`{text}` answers a request that isn't one"));
            }
            examples.push(("answer.json", message));
        }
    }
    match open.first_key_value() {
        Some((id, _)) => Err(format!("request {id} is not answered")),
        None => Ok(examples),
    }
}

fn of_protocol() -> Vec<Example> {
    examples(PROTOCOL, None, &Validators::new()).unwrap_or_else(|faults| panic!("{}", faults.join("\n")))
}

#[test]
fn the_examples_of_every_document_are_valid() {
    let validators = Validators::new();
    let vectors = vectors_readme();
    for (document, text, unmarked) in [
        ("protocol.md", PROTOCOL, None),
        ("vectors/README.md", &vectors, None),
        ("log-format.md", LOG_FORMAT, Some("log-record.json")),
    ] {
        match examples(text, unmarked, &validators) {
            Ok(found) => assert!(found.len() > 1, "{document} has no examples"),
            Err(faults) => panic!("{document}: {}", faults.join("\n")),
        }
    }
}

#[test]
fn faulty_examples_are_found() {
    let validators = Validators::new();
    let request = r#"{"id":1,"version":{}}"#;
    let marked = |body: &str| format!("Suite to subject:\n\n```json\n{body}\n```\n");
    let dialogue = |body: &str| format!("```jsonl\n{body}\n```\n");
    let good = [
        marked(request),
        dialogue(&format!("> {request}\n< {}", r#"{"id":1,"version":5}"#)),
        dialogue("> {\"id\":1,\"rewind\":{}}\n< {\"id\":1,\"unsupported\":{\"why\":\"no\"}}"),
    ];
    for text in good {
        assert!(!examples(&text, None, &validators).expect("it is valid").is_empty(), "{text}");
    }
    for (text, says) in [
        (marked("{"), "no JSON"),
        (marked(r#"{"id":0,"version":{}}"#), "no request.json"),
        (format!("Text.\n\n```json\n{request}\n```\n"), "`Text.`"),
        (format!("Subject to suite:\n\n```json\n{request}\n```\n"), "no answer.json"),
        (marked("{\"id\":1}").replace("json", "jsonl"), "neither with"),
        (dialogue(request), "neither with"),
        (dialogue(&format!("> {request}")), "request 1 is not answered"),
        (dialogue(r#"< {"id":1,"version":5}"#), "no open request"),
        (dialogue(&format!("> {request}\n< {}", r#"{"id":2,"version":5}"#)), "no open request"),
        (dialogue(&format!("> {request}\n< {}", r#"{"id":1,"version":-5}"#)), "no answer.json"),
        (dialogue(&format!("> {request}\n> {request}")), "new id"),
        (dialogue(r#"> {"id":1,"version":5}"#), "new id"),
        (dialogue("> {\"id\":1,\"rewind\":{}}\n< {\"id\":1,\"version\":5}"), "isn't one"),
    ] {
        let faults = examples(&text, None, &validators).expect_err(&text);
        assert!(faults.join("\n").contains(says), "{text}: {faults:?}");
    }
    for (text, good) in [
        ("```json\n{\"hints\":{\"pinned\":[],\"preserved\":[],\"crc32\":\"00000000\"}}\n```\n", true),
        ("```json\n{\"hints\":{\"pinned\":[],\"preserved\":[],\"crc32\":\"0\"}}\n```\n", false),
        ("```jsonl\n{\"turnfold\":{\"log\":1}}\n```\n", true),
        ("```jsonl\n{\"turnfold\":{\"log\":2}}\n```\n", false),
    ] {
        assert_eq!(examples(text, Some("log-record.json"), &validators).is_ok(), good, "{text}");
    }
}

/// The names of a schema's fields at a pointer.
fn fields(name: &str, pointer: &str) -> Vec<String> {
    let schema = schema(name);
    let fields = schema.pointer(pointer).and_then(Value::as_object);
    fields.unwrap_or_else(|| panic!("{name} has no fields at `{pointer}`")).keys().cloned().collect()
}

#[test]
fn every_form_of_message_has_an_example() {
    let mut found = BTreeSet::new();
    for (schema, message) in of_protocol() {
        for (name, content) in message.as_object().into_iter().flatten() {
            found.insert(format!("{schema} {name}"));
            match content {
                Value::Object(fields) => {
                    found.extend(fields.keys().map(|field| format!("{schema} {name}.{field}")));
                }
                Value::String(word) => {
                    found.insert(format!("{schema} {name}={word}"));
                }
                Value::Number(_) => {
                    found.insert(format!("{schema} {name}=number"));
                }
                _ => {}
            }
        }
    }
    let mut wanted = BTreeSet::new();
    for name in ["request.json", "answer.json"] {
        wanted.extend(fields(name, "/properties").into_iter().map(|field| format!("{name} {field}")));
    }
    for (name, pointer, message) in [
        ("request.json", "/$defs/compact/properties", "compact"),
        ("request.json", "/$defs/append/properties", "append"),
        ("request.json", "/$defs/summary/properties", "summary"),
        ("answer.json", "/$defs/outcome/properties", "outcome"),
        ("answer.json", "/properties/summarize/properties", "summarize"),
    ] {
        wanted.extend(fields(name, pointer).into_iter().map(|field| format!("{name} {message}.{field}")));
    }
    wanted.extend(
        ["request.json version=number", "answer.json read=version", "answer.json read=events"]
            .map(String::from),
    );
    let missing: Vec<_> = wanted.difference(&found).collect();
    assert!(missing.is_empty(), "the protocol shows no example of {missing:?}");
}

#[test]
fn every_word_of_a_choice_is_explained() {
    let answer = schema("answer.json");
    let mut words = fields("answer.json", "/$defs/hello/properties/capabilities/properties");
    for pointer in ["/properties/error/properties/class/enum", "/properties/read/enum"] {
        let choice = answer.pointer(pointer).and_then(Value::as_array).expect("a choice");
        words.extend(choice.iter().filter_map(Value::as_str).map(String::from));
    }
    words.extend(["stale", "duplicate"].map(String::from));
    assert!(words.len() > 10, "{words:?}");
    for word in words {
        assert!(PROTOCOL.contains(&format!("`{word}`")), "the protocol doesn't explain `{word}`");
    }
}

#[test]
fn links_of_the_protocol_lead_somewhere() {
    let headings = |text: &str| -> BTreeSet<String> {
        text.lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| anchor(line.trim_start_matches('#')))
            .collect()
    };
    let own = headings(PROTOCOL);
    let mut rest = PROTOCOL;
    let mut count = 0;
    while let Some((_, after)) = rest.split_once("](") {
        let (target, after) = after.split_once(')').expect("a link is closed");
        rest = after;
        count += 1;
        match target.strip_prefix('#') {
            Some(anchor) => assert!(own.contains(anchor), "no heading `#{anchor}`"),
            None => assert!(spec().join(target).exists(), "no file `{target}`"),
        }
    }
    assert!(count > 10);
}

#[test]
fn schemas_are_schemas() {
    let files: BTreeSet<String> = files(&spec().join("schema"))
        .into_iter()
        .map(|path| path.file_name().expect("a file").to_string_lossy().into_owned())
        .collect();
    let listed: BTreeSet<String> = schemas().iter().map(|(name, _)| String::from(*name)).collect();
    assert_eq!(files, listed, "`documents::schemas` lists the files of `schema`");
    for (name, _) in schemas() {
        let schema = schema(name);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!(schema["$id"], format!("{SCHEMA_BASE}{name}"));
        assert!(
            schema["title"].is_string() && schema["description"].is_string(),
            "{name} says what it is of"
        );
        if let Err(error) = jsonschema::meta::validate(&schema) {
            panic!("{name}: {error}");
        }
    }
    assert!(
        jsonschema::meta::validate(&json!({"$schema": schema("event.json")["$schema"], "type": 1})).is_err()
    );
    assert_eq!(Validators::new().0.len(), listed.len());
}

/// Values of the schemas, with pointers to the fields that are `optional`, may be `null` (`nullable`) or hold anything
/// (`open`), and to the objects that no unknown field may join (`closed`); and `changes` that no schema may allow.
const SCHEMA_CASES: &str = include_str!("schema-cases.json");

/// The value with another one, or none, at a pointer.
fn changed(value: &Value, pointer: &str, to: Option<&Value>) -> Value {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return to.unwrap_or_else(|| panic!("nothing is left of {value}")).clone();
    };
    let mut changed = value.clone();
    match changed.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at `{parent}` of {value}")) {
        Value::Object(fields) => match to {
            Some(to) => drop(fields.insert(name.into(), to.clone())),
            None => drop(fields.remove(name)),
        },
        Value::Array(items) => {
            let at = name.parse::<usize>().unwrap_or_else(|_| panic!("`{name}` is no index"));
            items.splice(at..=at, to.cloned());
        }
        other => panic!("`{parent}` is {other}, expected an object or a list"),
    }
    assert_ne!(&changed, value, "nothing is changed at `{pointer}`");
    changed
}

/// Pointers to a value and to everything in it, but not into what is `open`.
fn pointers(value: &Value, at: &str, open: &[&str]) -> Vec<String> {
    let mut found = vec![at.to_owned()];
    match value {
        _ if open.contains(&at) => {}
        Value::Object(fields) => {
            found.extend(
                fields.iter().flat_map(|(name, field)| pointers(field, &format!("{at}/{name}"), open)),
            );
        }
        Value::Array(items) => {
            found.extend((0..).zip(items).flat_map(|(n, item)| pointers(item, &format!("{at}/{n}"), open)));
        }
        _ => {}
    }
    found
}

/// What a schema wrongly allows or refuses, when a valid value of it is changed.
fn wrong_verdicts(case: &Value, validators: &Validators) -> Vec<String> {
    let field = |name| case.get(name).unwrap_or_else(|| panic!("{case} has no `{name}`"));
    let listed = |name| -> Vec<&str> {
        case.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let (schema, valid) = (field("schema").as_str().expect("a name"), field("valid"));
    let [optional, nullable, open, closed] = ["optional", "nullable", "open", "closed"].map(listed);
    let mut wrong = Vec::new();
    let mut judge = |value: &Value, allowed: bool| {
        let fault = validators.fault(schema, value);
        if fault.is_none() != allowed {
            wrong.push(fault.unwrap_or_else(|| format!("{schema} allows {value}")));
        }
    };
    judge(valid, true);
    for change in field("changes").as_array().expect("a list") {
        let at = change.get("at").and_then(Value::as_str).expect("a pointer");
        judge(&changed(valid, at, change.get("to")), false);
    }
    for pointer in pointers(valid, "", &open) {
        let at = pointer.as_str();
        let here = valid.pointer(at).expect("it is there");
        let parent = at.rsplit_once('/').and_then(|(parent, _)| valid.pointer(parent));
        if parent.is_some_and(Value::is_object) {
            judge(&changed(valid, at, None), optional.contains(&at));
        }
        if !here.is_null() {
            judge(&changed(valid, at, Some(&Value::Null)), nullable.contains(&at) || open.contains(&at));
        }
        if here.is_object() && !open.contains(&at) {
            let unknown = changed(valid, &format!("{at}/later"), Some(&Value::Bool(true)));
            judge(&unknown, !closed.contains(&at));
        }
    }
    wrong
}

#[test]
fn schemas_allow_and_refuse_what_they_should() {
    let validators = Validators::new();
    let cases = parsed(SCHEMA_CASES).unwrap_or_else(|fault| panic!("{fault}"));
    let cases = cases.as_array().expect("a list");
    let wrong: Vec<String> = cases.iter().flat_map(|case| wrong_verdicts(case, &validators)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let tried: BTreeSet<&str> = cases.iter().filter_map(|case| case.get("schema")?.as_str()).collect();
    let all: BTreeSet<&str> = schemas().iter().map(|(name, _)| *name).collect();
    assert_eq!(tried, all, "every schema has to refuse something");
}

#[test]
fn wrong_verdicts_of_a_schema_are_found() {
    let validators = Validators::new();
    let case = |field: &str, value: Value| {
        let mut case = json!({"schema": "window.json", "valid": {"turns": 1}, "closed": [""], "changes": []});
        case.as_object_mut().expect("an object").insert(field.into(), value);
        wrong_verdicts(&case, &validators)
    };
    assert!(case("changes", json!([{"at": "/turns", "to": 0}])).is_empty());
    for (field, value, says) in [
        ("valid", json!({"turns": 0}), "0 is less than"),
        ("changes", json!([{"at": "/turns", "to": 2}]), "allows {\"turns\":2}"),
        ("closed", json!([]), "maxProperties"),
        ("optional", json!(["/turns"]), "minProperties"),
        ("nullable", json!(["/turns"]), "null is not"),
    ] {
        let wrong = case(field, value).join("\n");
        assert!(wrong.contains(says), "{field}: {wrong}");
    }
}

fn vectors_readme() -> String {
    fs::read_to_string(spec().join("vectors/README.md")).expect("it is there")
}

/// The vectors of the directory and of its README, by file name.
fn vectors() -> Vec<(Option<String>, Value)> {
    let shown =
        examples(&vectors_readme(), None, &Validators::new()).unwrap_or_else(|faults| panic!("{faults:?}"));
    let stored = files(&spec().join("vectors")).into_iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let text =
            fs::read_to_string(&path).ok().filter(|_| path.extension().is_some_and(|end| end == "json"))?;
        Some((Some(name), parsed(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))))
    });
    shown.into_iter().map(|(_, vector)| (None, vector)).chain(stored).collect()
}

#[test]
fn vectors_are_named_and_bear_on_rules() {
    let validators = Validators::new();
    let vectors = vectors();
    assert!(vectors.len() > 1);
    let mut names = BTreeSet::new();
    for (file, vector) in &vectors {
        let name = vector["name"].as_str().unwrap_or_default();
        assert_eq!(validators.fault("vector.json", vector), None, "{name}");
        assert!(names.insert(name), "two vectors are named `{name}`");
        assert!(
            file.as_ref().is_none_or(|file| *file == format!("{name}.json")),
            "{file:?} is named `{name}`"
        );
        for rule in vector["rules"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(Rule::find(rule).is_some(), "`{name}` bears on `{rule}`, which is no rule");
        }
    }
}

/// Every file under a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// What is wrong with the line ends of a text.
fn line_fault(text: &str) -> Option<String> {
    let faulty = (1..).zip(text.split('\n')).find(|(_, line)| line.ends_with(char::is_whitespace));
    match faulty {
        Some((line, _)) => Some(format!("line {line} ends with white space or CR, expected neither")),
        None if !text.ends_with('\n') => Some("the last line has no LF".into()),
        None => None,
    }
}

#[test]
fn files_have_plain_line_ends() {
    assert_eq!(line_fault("a\n\nb\n"), None);
    for (text, says) in
        [("a\r\nb\n", "line 1"), ("a\nb \n", "line 2"), ("a\n\t\n", "line 2"), ("a\nb", "no LF")]
    {
        assert!(line_fault(text).is_some_and(|fault| fault.contains(says)), "{text:?}");
    }
    let files = files(spec());
    assert!(files.iter().any(|path| path.ends_with("protocol.md")) && RULE_BOOK.contains("## Glossary"));
    for path in files {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(line_fault(&text), None, "{}", path.display());
    }
}
