//! The notation of sessions and passes that the rule book's examples are written in (`spec/rules.md`, "How to read an
//! example"): reading a script from it, and writing what came of one.
//!
//! Beyond the book it has what only a suite needs: `U1!` is flagged synthetic with the text `"true"` instead of the
//! boolean, `U1:4294967296` weighs more than a weight can, `?1` has a role that is none, and a letter without a number
//! is numbered by count (`U A U` is `U1 A1 U2`).

use std::{collections::HashMap, fmt};

use serde_json::json;
use turnfold_core::{
    Boundary, Content, Event, EventId, EventType, Message, Object, Role, ToolCall, ToolResponse, Value,
    Window, session::Trigger,
};

use crate::{
    protocol::{Answer, Call, Checked, Said},
    run::{Change, Effect, Moment, Transcript},
    script::{Op, Pass, Script, SessionPass},
    words::is_synthetic,
};

/// An operation of an example, with the answer it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The line as it was written
    pub line: String,
    /// What it does; an `append` of several events is several
    pub ops: Vec<Op>,
    /// The lines of the answer, without their indent
    pub answer: Vec<String>,
}

/// A text that isn't in the notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The line, counted from 1
    pub line: usize,
    /// What was found and what was expected
    pub message: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Unreadable {}

/// Reads operations with their answers. Blank lines and lines that begin with `#` are left out.
///
/// # Errors
///
/// The first line that isn't in the notation.
pub fn read(text: &str) -> Result<Vec<Step>, Unreadable> {
    let mut steps: Vec<Step> = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        let fault = |message: String| Unreadable { line: nth + 1, message };
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(answer) = line.strip_prefix("  ") {
            let step =
                steps.last_mut().ok_or_else(|| fault("an answer stands before any operation".into()))?;
            step.answer.push(answer.trim_end().into());
        } else {
            let ops = operation(line).map_err(fault)?;
            steps.push(Step { line: line.trim_end().into(), ops, answer: Vec::new() });
        }
    }
    Ok(steps)
}

/// The script of some steps.
pub fn script(steps: &[Step]) -> Script {
    Script(steps.iter().flat_map(|step| step.ops.iter().cloned()).collect())
}

fn operation(line: &str) -> Result<Vec<Op>, String> {
    let (verb, rest) = line.trim_end().split_once(' ').unwrap_or((line.trim_end(), ""));
    let parts = split(rest, '|');
    let mut parts = parts.iter().map(|part| part.trim());
    match verb {
        "pass" => {
            let view = checked_events(parts.next().unwrap_or(""))?;
            let window = window(parts.next().ok_or("a pass has no window, expected `pass VIEW | WINDOW`")?)?;
            let summarizer = parts.next().map(behaviour).transpose()?;
            no_more(parts)?;
            Ok(vec![Op::Pass(Pass { view, window, summarizer })])
        }
        "again" => Ok(vec![Op::Again]),
        "open" => Ok(vec![Op::Open(events(rest)?.into())]),
        "append" => Ok(events(rest)?.into_iter().map(Op::Append).collect()),
        "batch" => Ok(vec![Op::Batch(events(rest)?)]),
        "stale" => Ok(vec![Op::StaleBatch(events(rest)?)]),
        "compact" => {
            let window = window(parts.next().unwrap_or(""))?;
            let mut compact = SessionPass {
                window,
                trigger: None,
                summarizer: None,
                during: Vec::new(),
                between: Vec::new(),
                stamp: None,
            };
            for part in parts {
                match part.split_once(' ').unwrap_or((part, "")) {
                    ("when", when) => compact.trigger = Some(trigger(when)?),
                    ("summarizer", _) => compact.summarizer = Some(behaviour(part)?),
                    ("during", list) => compact.during = events(list)?,
                    ("between", list) => compact.between = events(list)?,
                    _ => {
                        return Err(format!(
                            "`{part}` of a compact, expected `when`, `summarizer`, `during` or `between`"
                        ));
                    }
                }
            }
            Ok(vec![Op::Compact(compact)])
        }
        "view" => Ok(vec![Op::View]),
        "log" => Ok(vec![Op::Log]),
        other => Err(format!(
            "operation `{other}`, expected `pass`, `again`, `open`, `append`, `batch`, `stale`, `compact`, `view` or `log`"
        )),
    }
}

fn no_more<'p>(mut parts: impl Iterator<Item = &'p str>) -> Result<(), String> {
    parts.next().map_or(Ok(()), |part| Err(format!("`{part}` is too much")))
}

/// Splits where a letter stands outside brackets.
fn split(text: &str, at: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter == at && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts
}

/// Reads a window, of a size that may be out of range.
///
/// # Errors
///
/// Neither `events N`, `turns N` nor `tokens N`.
pub fn window(text: &str) -> Result<Checked<Window>, String> {
    let (kind, size) = kind_and_size(text)
        .ok_or_else(|| format!("window `{text}`, expected `events N`, `turns N` or `tokens N`"))?;
    Ok(Checked::raw(json!({ kind: size })))
}

fn kind_and_size(text: &str) -> Option<(&str, i64)> {
    let (kind, size) = text.split_once(' ')?;
    matches!(kind, "events" | "turns" | "tokens").then_some(())?;
    Some((kind, size.trim().parse().ok()?))
}

fn trigger(text: &str) -> Result<Checked<Trigger>, String> {
    trigger_value(text).map(Checked::raw)
}

fn trigger_value(text: &str) -> Result<serde_json::Value, String> {
    let text = text.trim();
    if text == "always" {
        return Ok(json!("always"));
    }
    if let Some(list) = text.strip_prefix("any(").and_then(|rest| rest.strip_suffix(')')) {
        let parts = split(list, ',');
        let triggers = parts.iter().filter(|part| !part.trim().is_empty()).map(|part| trigger_value(part));
        return Ok(json!({ "any": triggers.collect::<Result<Vec<_>, _>>()? }));
    }
    match kind_and_size(text) {
        Some((kind @ ("turns" | "tokens"), size)) => Ok(json!({ kind: size })),
        _ => Err(format!("trigger `{text}`, expected `turns N`, `tokens N`, `any(…)` or `always`")),
    }
}

fn behaviour(text: &str) -> Result<Said, String> {
    let said = text.strip_prefix("summarizer").map_or(text, str::trim);
    let fault = || format!("summarizer `{said}`, expected `text`, `text:N`, `decline`, `blank` or `fail`");
    match said.split_once(':') {
        Some(("text", tokens)) => {
            Ok(Said::Text { text: "in short".into(), tokens: tokens.parse().map_err(|_| fault())? })
        }
        Some(_) => Err(fault()),
        None => match said {
            "text" => Ok(Said::Text { text: "in short".into(), tokens: 1 }),
            "decline" => Ok(Said::Declined),
            "blank" => Ok(Said::Text { text: " \t\r\n".into(), tokens: 1 }),
            "fail" => Ok(Said::Failed("out of order".into())),
            _ => Err(fault()),
        },
    }
}

/// One token: `A1(t1,t2):90`.
struct Token<'t> {
    letter: char,
    number: Option<&'t str>,
    odd: bool,
    inner: Option<&'t str>,
    weight: Option<&'t str>,
}

impl<'t> Token<'t> {
    fn read(text: &'t str) -> Result<Self, String> {
        let fault = || {
            format!("event `{text}`, expected a letter, a number, and what the notation allows behind them")
        };
        let mut letters = text.char_indices();
        let (_, letter) = letters.next().ok_or_else(fault)?;
        let rest = text.get(letter.len_utf8()..).unwrap_or("");
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest.get(..digits).filter(|number| !number.is_empty());
        let mut rest = rest.get(digits..).unwrap_or("");
        let odd = rest.strip_prefix('!').inspect(|after| rest = after).is_some();
        let (open, close) = if letter == 'B' { ('[', ']') } else { ('(', ')') };
        let mut inner = None;
        if let Some(after) = rest.strip_prefix(open) {
            let (within, after) = after.split_once(close).ok_or_else(fault)?;
            (inner, rest) = (Some(within), after);
        }
        let weight = match rest.strip_prefix(':') {
            Some(weight) => Some(weight),
            None if rest.is_empty() => None,
            None => return Err(fault()),
        };
        Ok(Self { letter, number, odd, inner, weight })
    }
}

/// The positions of events that are wrong on purpose.
type SpoiledEvents = Vec<(usize, Spoiled)>;

/// What is wrong with an event on purpose.
enum Spoiled {
    Role,
    Tokens(serde_json::Value),
}

/// Reads events that are right.
///
/// # Errors
///
/// A token that isn't in the notation, or one that is wrong on purpose.
pub fn events(text: &str) -> Result<Vec<Event>, String> {
    let (events, spoiled) = read_events(text)?;
    match spoiled.first() {
        None => Ok(events),
        Some((at, _)) => Err(format!("event {} is wrong on purpose, which only a pass takes", at + 1)),
    }
}

fn checked_events(text: &str) -> Result<Checked<Vec<Event>>, String> {
    let (events, spoiled) = read_events(text)?;
    if spoiled.is_empty() {
        return Ok(events.into());
    }
    let mut values: Vec<serde_json::Value> = events.iter().map(|event| json!(event)).collect();
    for (at, spoil) in spoiled {
        if let Some(fields) = values.get_mut(at).and_then(serde_json::Value::as_object_mut) {
            match spoil {
                Spoiled::Role => fields.insert("role".into(), json!("narrator")),
                Spoiled::Tokens(tokens) => fields.insert("tokens".into(), tokens),
            };
        }
    }
    Ok(Checked::raw(json!(values)))
}

fn read_events(text: &str) -> Result<(Vec<Event>, SpoiledEvents), String> {
    let mut counts: HashMap<char, usize> = HashMap::new();
    let mut events: Vec<Event> = Vec::new();
    let mut spoiled = Vec::new();
    for text in
        split(text, ' ').iter().map(|token| token.trim()).filter(|token| !token.is_empty() && *token != "-")
    {
        let token = Token::read(text)?;
        let count = counts.entry(token.letter).and_modify(|count| *count += 1).or_insert(1);
        let label = match token.number {
            Some(number) => format!("{}{number}", token.letter),
            None => format!("{}{count}", token.letter),
        };
        let weight = match token.weight {
            None => Some(1),
            Some("-") => None,
            Some(weight) => match weight.parse() {
                Ok(weight) => Some(weight),
                Err(_) => {
                    let wrong = serde_json::from_str(weight)
                        .map_err(|_| format!("weight `{weight}` of `{text}`, expected a number or `-`"))?;
                    spoiled.push((events.len(), Spoiled::Tokens(wrong)));
                    None
                }
            },
        };
        match token.letter {
            '?' => {
                spoiled.push((events.len(), Spoiled::Role));
                events.push(message(&label, Role::User, weight));
            }
            'M' => {
                let boundary =
                    events.last().filter(|event| event.as_boundary().is_some()).map(|b| b.id.clone());
                events.extend(summary(&label, weight, boundary.as_ref()));
            }
            'B' => events.push(boundary(&label, token.inner.unwrap_or("|"))?),
            'X' => events.push(other(&label)),
            letter => events.push(speech(letter, &label, &token, weight)?),
        }
    }
    Ok((events, spoiled))
}

fn message(id: &str, role: Role, weight: Option<u32>) -> Event {
    let mut event = Event::message(id, role, id);
    if let Content::Message(message) = &mut event.content {
        message.tokens = weight;
    }
    event
}

fn speech(letter: char, label: &str, token: &Token<'_>, weight: Option<u32>) -> Result<Event, String> {
    let role = match letter.to_ascii_uppercase() {
        'S' => Role::System,
        'U' => Role::User,
        'A' => Role::Assistant,
        'T' => Role::Tool,
        _ => {
            return Err(format!("letter `{letter}` of `{label}`, expected one of `S U A T s u a t M B X ?`"));
        }
    };
    let mut event = message(label, role, weight);
    if letter.is_ascii_lowercase() {
        event = event.synthetic();
    }
    if token.odd {
        event.metadata.set(Event::SYNTHETIC, "true");
    }
    if let (Some(inner), Content::Message(message)) = (token.inner, &mut event.content) {
        let ids = inner.split(',').map(|id| id.trim().to_owned());
        if role == Role::Tool {
            message.text.clear();
            message.tool_responses = ids
                .map(|id| ToolResponse { id, name: "tool".into(), text: label.into(), extra: Object::new() })
                .collect();
        } else {
            message.tool_calls = ids
                .map(|id| ToolCall { id, name: "tool".into(), arguments: "{}".into(), extra: Object::new() })
                .collect();
        }
    }
    Ok(event)
}

fn summary(label: &str, weight: Option<u32>, boundary: Option<&EventId>) -> [Event; 2] {
    let half = |name: &str, role, text: &str, tokens: Option<u32>| {
        let mut event = Event::new(
            format!("{label}.{name}"),
            Content::Message(Message {
                role,
                text: text.into(),
                tool_calls: Vec::new(),
                tool_responses: Vec::new(),
                parts: Vec::new(),
                tokens,
            }),
        )
        .synthetic();
        event.metadata.set(Event::STRATEGY, "window");
        if let Some(boundary) = boundary {
            event.metadata.set(Event::BOUNDARY, boundary.as_str());
        }
        event
    };
    [half("u", Role::User, "And before?", weight.map(|_| 0)), half("a", Role::Assistant, label, weight)]
}

fn boundary(label: &str, inner: &str) -> Result<Event, String> {
    let (pinned, preserved) = inner
        .split_once('|')
        .ok_or_else(|| format!("boundary `{label}`, expected `{label}[PINNED | PRESERVED]`"))?;
    let ids = |list: &str| {
        list.split_whitespace()
            .flat_map(|id| match id.strip_prefix('M') {
                Some(_) => vec![format!("{id}.u"), format!("{id}.a")],
                None => vec![id.to_owned()],
            })
            .map(EventId::from)
            .collect()
    };
    let names = Boundary {
        strategy: "window".into(),
        pinned: ids(pinned),
        preserved: ids(preserved),
        extra: Object::new(),
    };
    Ok(Event::new(label, Content::Boundary(names)))
}

fn other(label: &str) -> Event {
    let mut note = Object::new();
    note.set("note", label);
    let kind = EventType::new("APP.NOTE").unwrap_or_else(|_| unreachable!("the name is well formed"));
    Event::new(label, Content::Other(kind, Value::Object(note)))
}

/// Names for the events of a transcript: those of the script by their own, those that a pass wrote by count.
#[derive(Debug, Default)]
pub struct Names {
    known: HashMap<EventId, Event>,
    /// Written summaries by their user half: the assistant half, and which one it is
    summaries: HashMap<EventId, (EventId, usize)>,
    boundaries: HashMap<EventId, usize>,
    written: usize,
}

impl Names {
    /// The names of a script's events.
    pub fn of(script: &Script) -> Self {
        let mut names = Self::default();
        for op in &script.0 {
            match op {
                Op::Pass(pass) => names.know(pass.view.get().map_or(&[], Vec::as_slice)),
                Op::Open(log) => names.know(log.get().map_or(&[], Vec::as_slice)),
                Op::Append(event) => names.know(std::slice::from_ref(event)),
                Op::Batch(events) | Op::StaleBatch(events) => names.know(events),
                Op::Compact(compact) => {
                    names.know(&compact.during);
                    names.know(&compact.between);
                }
                Op::Again | Op::View | Op::Log => {}
            }
        }
        names
    }

    fn know(&mut self, events: &[Event]) {
        for event in events {
            if event.as_boundary().is_some() {
                let next = self.boundaries.len() + 1;
                self.boundaries.entry(event.id.clone()).or_insert(next);
            }
            self.known.insert(event.id.clone(), event.clone());
        }
    }

    /// Events in the notation; those that aren't as they were given are marked `~`, unknown ones `?`.
    pub fn list(&mut self, events: &[Event]) -> String {
        let mut shown: Vec<String> = Vec::new();
        let mut rest = events;
        while let [event, after @ ..] = rest {
            rest = after;
            if let ([second, beyond @ ..], true) = (after, is_half(event, Role::User))
                && let Some(name) = self.pair(event, second)
            {
                shown.push(name);
                rest = beyond;
                continue;
            }
            shown.push(self.one(event));
        }
        if shown.is_empty() { "-".into() } else { shown.join(" ") }
    }

    fn pair(&mut self, user: &Event, assistant: &Event) -> Option<String> {
        if !is_half(assistant, Role::Assistant) {
            return None;
        }
        let known = (self.known.get(&user.id), self.known.get(&assistant.id));
        match known {
            (Some(one), Some(other)) => {
                let name = user.id.as_str().strip_suffix(".u")?;
                let whole =
                    assistant.id.as_str().strip_suffix(".a")? == name && one == user && other == assistant;
                whole.then(|| name.to_owned())
            }
            (None, None) => {
                let nth = match self.summaries.get(&user.id) {
                    Some((_, nth)) => *nth,
                    None => {
                        self.written += 1;
                        self.summaries.insert(user.id.clone(), (assistant.id.clone(), self.written));
                        self.written
                    }
                };
                Some(written(nth))
            }
            _ => None,
        }
    }

    fn one(&mut self, event: &Event) -> String {
        if let Some(boundary) = event.as_boundary() {
            let next = self.boundaries.len() + 1;
            let nth = *self.boundaries.entry(event.id.clone()).or_insert(next);
            let (pinned, preserved) = (self.ids(&boundary.pinned), self.ids(&boundary.preserved));
            return match (pinned.is_empty(), preserved.is_empty()) {
                (true, true) => format!("B{nth}[|]"),
                (true, false) => format!("B{nth}[| {preserved}]"),
                (false, true) => format!("B{nth}[{pinned} |]"),
                (false, false) => format!("B{nth}[{pinned} | {preserved}]"),
            };
        }
        match self.known.get(&event.id) {
            Some(known) if known == event => event.id.to_string(),
            Some(_) => format!("{}~", event.id),
            None => format!("?{}", crate::text::shorten(event.id.as_str(), 40)),
        }
    }

    /// Ids that a boundary names; the halves of a summary side by side are one name.
    fn ids(&self, ids: &[EventId]) -> String {
        let mut shown: Vec<String> = Vec::new();
        let mut rest = ids;
        while let [id, after @ ..] = rest {
            rest = after;
            if let [second, beyond @ ..] = after
                && let Some(name) = self.pair_of_ids(id, second)
            {
                shown.push(name);
                rest = beyond;
                continue;
            }
            shown.push(id.to_string());
        }
        shown.join(" ")
    }

    fn pair_of_ids(&self, user: &EventId, assistant: &EventId) -> Option<String> {
        match self.summaries.get(user) {
            Some((other, nth)) => (other == assistant).then(|| written(*nth)),
            None => {
                let name = user.as_str().strip_suffix(".u")?;
                (assistant.as_str().strip_suffix(".a")? == name).then(|| name.to_owned())
            }
        }
    }
}

/// The name of a summary that the transcript itself brings forth.
fn written(nth: usize) -> String {
    if nth == 1 { "M'".into() } else { format!("M'{nth}") }
}

fn is_half(event: &Event, role: Role) -> bool {
    is_synthetic(event) && event.as_message().is_some_and(|message| message.role == role)
}

/// Whether two events are the halves of a summary.
pub(crate) fn is_pair(user: &Event, assistant: &Event) -> bool {
    let halves = |one: &str, other: &str| {
        one.strip_suffix(".u").is_some_and(|name| other.strip_suffix(".a") == Some(name))
    };
    is_half(user, Role::User)
        && is_half(assistant, Role::Assistant)
        && halves(user.id.as_str(), assistant.id.as_str())
}

/// The letter an event is named with.
pub(crate) fn letter(event: &Event) -> &'static str {
    let Some(message) = event.as_message() else {
        return if event.as_boundary().is_some() { "B" } else { "X" };
    };
    match (message.role, is_synthetic(event)) {
        (Role::System, false) => "S",
        (Role::User, false) => "U",
        (Role::Assistant, false) => "A",
        (Role::Tool, false) => "T",
        (Role::System, true) => "s",
        (Role::User, true) => "u",
        (Role::Assistant, true) => "a",
        (Role::Tool, true) => "t",
    }
}

/// The answer of each step, in the notation, without indent.
pub fn answers(steps: &[Step], transcript: &Transcript) -> Vec<Vec<String>> {
    let mut names = Names::of(&script(steps));
    let mut moments = transcript.0.iter();
    steps
        .iter()
        .map(|step| {
            let own: Vec<&Moment> = moments.by_ref().take(step.ops.len()).collect();
            match step.ops.first() {
                Some(Op::Append(_)) => appended(&own, &mut names),
                _ => own.iter().flat_map(|moment| answer(moment, &mut names)).collect(),
            }
        })
        .collect()
}

fn appended(moments: &[&Moment], names: &mut Names) -> Vec<String> {
    let moved = |moment: &&&Moment| match (&moment.before, &moment.after) {
        (Some(before), Some(after)) => after.version != before.version,
        _ => false,
    };
    let (added, repeated): (Vec<_>, Vec<_>) = moments.iter().partition(|moment| moved(moment));
    let mut list = |verb: &str, moments: &[&&Moment]| {
        let events: Vec<Event> = moments
            .iter()
            .filter_map(|moment| match &moment.op {
                Op::Append(event) => Some(event.clone()),
                _ => None,
            })
            .collect();
        (!events.is_empty()).then(|| format!("{verb} {}", names.list(&events)))
    };
    [list("added", &added), list("repeated", &repeated)].into_iter().flatten().collect()
}

fn answer(moment: &Moment, names: &mut Names) -> Vec<String> {
    if let (Op::Pass(_), Some(view)) = (&moment.op, &moment.view) {
        names.know(view); // two passes may each have an event of the same name
    }
    let mut lines: Vec<String> = moment.calls.iter().map(|call| handed(call, names)).collect();
    match &moment.result {
        Effect::Unchanged => lines.push("unchanged".into()),
        Effect::Changed(change) => {
            let weighed = matches!(moment.window(), Some(Window::Tokens(_)));
            lines.extend(changed(change, weighed, names));
        }
        Effect::Answered(answer) => lines.push(match answer {
            Answer::View(events) | Answer::Log(events) => names.list(events),
            Answer::Opened { .. } => "opened".into(),
            Answer::Appended { .. } => match &moment.op {
                Op::Batch(events) | Op::StaleBatch(events) => format!("added {}", names.list(events)),
                _ => "added".into(),
            },
            Answer::Refused { .. } => "refused".into(),
            Answer::Raced {} => "raced".into(),
            Answer::Error(failed) => format!("error {}", failed.class.as_str()),
            Answer::Unsupported { why } => format!("unsupported {why}"),
            Answer::Unreadable(_) => "accepted".into(),
            Answer::Version(version) => version.to_string(),
            Answer::Hello(hello) => hello.implementation.name.clone(),
            Answer::Outcome(_) | Answer::Unchanged(_) => String::new(),
        }),
    }
    lines
}

fn handed(call: &Call, names: &mut Names) -> String {
    match &call.prior {
        Some(prior) => format!("handed prior {prior:?}; {}", names.list(&call.events)),
        None => format!("handed {}", names.list(&call.events)),
    }
}

fn changed(change: &Change, weighed: bool, names: &mut Names) -> Vec<String> {
    let mut lines = Vec::new();
    let parts = [
        ("pinned", &change.pinned),
        ("covered", &change.covered),
        ("summary", &change.summary),
        ("preserved", &change.preserved),
    ];
    for (word, events) in parts {
        if !events.is_empty() {
            lines.push(format!("{word} {}", names.list(events)));
        }
    }
    if weighed {
        lines.extend(change.saved.map(|saved| format!("saved {saved}")));
        lines.extend(change.overshoot.map(|overshoot| format!("overshoot {overshoot}")));
    }
    lines
}

/// A script in the notation. What the notation can't say, such as texts and times, is left out.
pub fn write(script: &Script) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut appending = false;
    for op in &script.0 {
        if let (Op::Append(event), true, Some(line)) = (op, appending, lines.last_mut()) {
            line.push(' ');
            line.push_str(&tokens(std::slice::from_ref(event)));
            continue;
        }
        appending = matches!(op, Op::Append(_));
        lines.push(write_op(op));
    }
    lines.join("\n")
}

fn write_op(op: &Op) -> String {
    match op {
        Op::Pass(pass) => {
            let view = pass.view.get().map_or_else(|why| format!("({why})"), |view| tokens(view));
            let mut parts = vec![format!("pass {view}").trim_end().to_owned(), write_window(&pass.window)];
            parts.extend(pass.summarizer.as_ref().map(write_behaviour));
            parts.join(" | ")
        }
        Op::Again => "again".into(),
        Op::Open(log) => {
            format!("open {}", log.get().map_or_else(|why| format!("({why})"), |log| tokens(log)))
        }
        Op::Append(event) => format!("append {}", tokens(std::slice::from_ref(event))),
        Op::Batch(events) => format!("batch {}", tokens(events)),
        Op::StaleBatch(events) => format!("stale {}", tokens(events)),
        Op::Compact(compact) => {
            let mut parts = vec![format!("compact {}", write_window(&compact.window))];
            let trigger = compact.trigger.as_ref().filter(|trigger| trigger.get() != Ok(&Trigger::Always));
            parts.extend(trigger.map(|trigger| match trigger.get() {
                Ok(trigger) => format!("when {}", write_trigger(trigger)),
                Err(why) => format!("when ({why})"),
            }));
            parts.extend(compact.summarizer.as_ref().map(write_behaviour));
            let list = |verb: &str, events: &[Event]| {
                (!events.is_empty()).then(|| format!("{verb} {}", tokens(events)))
            };
            parts.extend(list("during", &compact.during));
            parts.extend(list("between", &compact.between));
            parts.join(" | ")
        }
        Op::View => "view".into(),
        Op::Log => "log".into(),
    }
}

fn write_window(window: &Checked<Window>) -> String {
    match window.get() {
        Ok(window) => window.to_string(),
        Err(_) => {
            let value = json!(window);
            let fields = value.as_object().and_then(|fields| fields.iter().next());
            fields.map_or_else(|| "window".into(), |(kind, size)| format!("{kind} {size}"))
        }
    }
}

fn write_trigger(trigger: &Trigger) -> String {
    match trigger {
        Trigger::Always => "always".into(),
        Trigger::Turns(size) => format!("turns {}", size.get()),
        Trigger::Tokens(size) => format!("tokens {}", size.get()),
        Trigger::Any(any) => {
            format!("any({})", any.triggers().iter().map(write_trigger).collect::<Vec<_>>().join(", "))
        }
    }
}

fn write_behaviour(said: &Said) -> String {
    match said {
        Said::Text { text, .. } if text.trim().is_empty() => "summarizer blank".into(),
        Said::Text { tokens: 1, .. } => "summarizer text".into(),
        Said::Text { tokens, .. } => format!("summarizer text:{tokens}"),
        Said::Declined => "summarizer decline".into(),
        Said::Failed(_) => "summarizer fail".into(),
    }
}

/// Events as tokens, with calls and weights.
pub fn tokens(events: &[Event]) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut rest = events;
    while let [event, after @ ..] = rest {
        rest = after;
        let name = event.id.as_str().strip_suffix(".u").filter(|_| is_half(event, Role::User));
        if let (Some(name), [second, beyond @ ..]) = (name, after)
            && is_half(second, Role::Assistant)
            && second.id.as_str().strip_suffix(".a") == Some(name)
        {
            shown.push(format!("{name}{}", weight(second)));
            rest = beyond;
            continue;
        }
        shown.push(token(event));
    }
    shown.join(" ")
}

fn weight(event: &Event) -> String {
    match event.tokens() {
        Some(1) => String::new(),
        Some(tokens) => format!(":{tokens}"),
        None => ":-".into(),
    }
}

fn token(event: &Event) -> String {
    let Some(message) = event.as_message() else { return Names::default().one(event).replace('?', "") };
    let calls: Vec<&str> = message
        .tool_calls
        .iter()
        .map(|call| call.id.as_str())
        .chain(message.tool_responses.iter().map(|response| response.id.as_str()))
        .collect();
    let calls = if calls.is_empty() { String::new() } else { format!("({})", calls.join(",")) };
    let flag = event.metadata.get(Event::SYNTHETIC).is_some_and(|flag| *flag != Value::Bool(true));
    format!("{}{}{calls}{}", event.id, if flag { "!" } else { "" }, weight(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for line in [
            "pass S1 U1:5 A1(t1,t2) T1(t1):0 M1 U2! | tokens 9 | summarizer text:7",
            "pass | events 1",
            "open M1 U1 B1[M1 | U1] M2 X1",
            "append U1 A1",
            "batch U1:- A1",
            "compact turns 1 | when any(turns 2, tokens 9) | summarizer fail | during U3 A3",
            "compact events 2 | between U3",
            "again",
        ] {
            let steps = read(line).unwrap();
            assert_eq!(write(&script(&steps)), line);
        }
    }

    #[test]
    fn letters_without_numbers_are_counted() {
        assert_eq!(tokens(&events("U A(t1) T(t1) U").unwrap()), "U1 A1(t1) T1(t1) U2");
    }

    #[test]
    fn what_is_wrong_on_purpose_stays_wrong() {
        let steps = read("pass U1:4294967296 ?1 | tokens 3").unwrap();
        let [Op::Pass(pass)] = steps[0].ops.as_slice() else { panic!("one pass") };
        assert!(pass.view.get().unwrap_err().contains("4294967296"));
        let steps = read("pass U1 ?1 | turns 0").unwrap();
        let [Op::Pass(pass)] = steps[0].ops.as_slice() else { panic!("one pass") };
        assert!(pass.view.get().unwrap_err().contains("narrator"));
        assert!(pass.window.get().is_err());
    }

    #[test]
    fn a_boundary_names_a_summary_as_the_log_does() {
        let steps = read(
            "open M1 U1 A1 U2 B1[M1 | U2] M2\ncompact turns 1 | summarizer text\nappend U3\n\
             compact turns 1 | summarizer text\nappend U4\ncompact turns 1\nlog",
        )
        .unwrap();
        let transcript =
            crate::run::run(&mut crate::reference::Reference::default(), &script(&steps)).unwrap();
        let shown = answers(&steps, &transcript);
        assert_eq!(
            shown.last().unwrap().as_slice(),
            ["M1 U1 A1 U2 B1[M1 | U2] M2 U3 B2[| U3] M' U4 B3[M' | U4]"]
        );
        assert_eq!(
            Names::default().ids(&["M1.a".into(), "x.u".into()]),
            "M1.a x.u",
            "one half is no summary"
        );
    }

    #[test]
    fn errors_name_the_line() {
        for (text, says) in [
            ("pass U1 A1", "no window"),
            ("\npass U1 | words 3", "line 2: window `words 3`"),
            ("pass Q1 | turns 1", "letter `Q`"),
            ("pass U1:x | turns 1", "weight `x`"),
            ("pass U1 | turns 1 | summarizer maybe", "summarizer `maybe`"),
            ("jump", "operation `jump`"),
            ("  unchanged", "before any operation"),
            ("compact turns 1 | wait", "`wait` of a compact"),
            ("open ?1", "wrong on purpose"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_text_is_read_or_refused(
            text in "(pass|open|append|batch|compact|view|log|again|  )?[ |:;()\\[\\]!?SUATMBXsuat0-9,a-z\u{e9}\u{1f4e5}-]{0,60}",
            other in proptest::prelude::any::<String>(),
        ) {
            for text in [text, other] {
                if let Ok(steps) = read(&text) {
                    let _ = write(&script(&steps));
                }
            }
        }
    }
}
