//! Examples: transcripts written down beforehand, and whether a subject's answers are those.
//!
//! They stand in three places: in the rule book, in the suite's snapshots, and as vectors beside the spec. An example
//! is about one rule, so the lines that only another rule is about are left open; see [`differs`].

use crate::notation::Step;

/// Whether the answers given to an example differ from those it shows, and how.
///
/// Only the lines that the rule is about count, and the order of `covered` for `result.covered-order` alone.
pub fn differs(rule: &str, steps: &[Step], given: &[Vec<String>]) -> Option<Difference> {
    steps.iter().zip(given).find_map(|(step, given)| {
        let parts = step.answer.iter().filter(|line| matches!(word(line), "pinned" | "preserved"));
        let stays: Vec<&str> = parts.flat_map(|line| line.split(' ').skip(1)).collect();
        if step.answer.is_empty() {
            return None; // nothing is shown of it
        }
        let told = given.iter().filter(|line| !is_number(line) || shows(step, word(line))).cloned();
        let (shown, given_lines) =
            (counted(rule, &step.answer, &stays), counted(rule, &told.collect::<Vec<_>>(), &stays));
        let comparable = rule != "result.covered-order" || sorted(&shown) == sorted(&given_lines);
        (comparable && shown != given_lines).then(|| Difference {
            line: step.line.clone(),
            expected: step.answer.clone(),
            found: given.clone(),
        })
    })
}

/// The words of some lines, without their order.
fn sorted(lines: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = lines.iter().flat_map(|line| line.split(' ')).collect();
    words.sort_unstable();
    words
}

/// The first operation whose answer isn't the one shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The operation
    pub line: String,
    /// The answer shown
    pub expected: Vec<String>,
    /// The answer given
    pub found: Vec<String>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "`{}`: expected `{}`, found `{}`",
            self.line,
            self.expected.join("; "),
            self.found.join("; ")
        )
    }
}

/// Whether answers as they are written say what a rule is about. Numbers may be left out of one; and a relation
/// between two passes is not in the answer of either, so that only the rule's property can judge it.
pub fn speaks(rule: &str, given: &[Vec<String>]) -> bool {
    let tells = |word: &str| given.iter().flatten().any(|line| line.starts_with(word));
    match rule {
        "result.saved" | "result.saved-signed" => tells("saved "),
        "result.overshoot" => tells("overshoot "),
        _ => !rule.starts_with("pass."),
    }
}

/// Whether the lines of a word are what a rule is about. How a pass ended always is.
fn is_about(rule: &str, word: &str) -> bool {
    match word {
        "handed" => matches!(
            rule,
            "summary.prior-handed"
                | "summary.input"
                | "summary.input-only"
                | "summary.system-free"
                | "summary.prior-text"
                | "summary.once"
        ),
        "summary" => matches!(rule, "summary.stands-in" | "summary.shape" | "summary.same-time"),
        "saved" => matches!(rule, "result.saved" | "result.saved-signed"),
        "overshoot" => rule == "result.overshoot",
        "covered" if rule == "result.covered-order" => true,
        "pinned" | "covered" | "preserved" => !matches!(
            rule,
            "result.covered-order"
                | "summary.input"
                | "summary.input-only"
                | "summary.system-free"
                | "summary.prior-text"
                | "summary.once"
                | "summary.shape"
                | "summary.same-time"
                | "result.saved"
                | "result.saved-signed"
                | "result.overshoot"
        ),
        _ => true,
    }
}

/// The lines that count for a rule, in a form in which equal means equal. What a chosen rule decides counts for that rule
/// alone: how a lost race is told, what else is handed over, how the prior reads. `stays` names the events that are
/// shown to stay.
fn counted(rule: &str, lines: &[String], stays: &[&str]) -> Vec<String> {
    lines
        .iter()
        .filter(|line| is_about(rule, word(line)))
        .map(|line| match word(line) {
            "covered" if rule != "result.covered-order" => {
                let mut events: Vec<&str> = line.split(' ').skip(1).collect();
                events.sort_unstable();
                format!("covered {}", events.join(" "))
            }
            "handed" => handed(rule, line, stays),
            "raced" if rule != "log.race-told" => "unchanged".into(),
            _ => line.clone(),
        })
        .collect()
}

/// Numbers that an example leaves out are not what it is about.
fn is_number(line: &str) -> bool {
    matches!(word(line), "saved" | "overshoot")
}

fn shows(step: &Step, what: &str) -> bool {
    step.answer.iter().any(|line| word(line) == what)
}

fn word(line: &str) -> &str {
    line.split(' ').next().unwrap_or(line)
}

fn handed(rule: &str, line: &str, stays: &[&str]) -> String {
    let (prior, events) = line.rsplit_once("; ").unwrap_or(("", line.trim_start_matches("handed ")));
    let prior = match prior {
        "" => "no prior",
        told if rule == "summary.prior-text" => told,
        _ => "a prior",
    };
    let counts = |event: &&str| rule == "summary.input-only" || !stays.contains(event);
    let events: Vec<&str> = events.split(' ').filter(counts).collect();
    format!("handed {prior}; {}", events.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{notation, reference::Reference, run::run};

    #[test]
    fn the_reference_answers_every_example_of_the_book() {
        let mut wrong = Vec::new();
        for rule in turnfold_spec::RULES.iter() {
            let steps = notation::read(&rule.example).unwrap_or_else(|error| panic!("{}: {error}", rule.id));
            let transcript = run(&mut Reference::default(), &notation::script(&steps)).unwrap();
            if let Some(difference) = differs(&rule.id, &steps, &notation::answers(&steps, &transcript)) {
                wrong.push(format!("{}: {difference}", rule.id));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_counts_depends_on_the_rule() {
        let steps = notation::read("pass U1 U2 | tokens 1\n  covered U1 A1\n  saved 3\n").unwrap();
        let given = [vec!["covered A1 U1".to_owned(), "saved 4".to_owned()]];
        assert_eq!(differs("cut.leaves", &steps, &given), None);
        assert!(differs("result.saved", &steps, &given).is_some());
        assert!(differs("result.covered-order", &steps, &given).is_some());
        let other = [vec!["covered U1".to_owned()]];
        assert_eq!(differs("result.covered-order", &steps, &other), None, "another rule's business");
    }

    #[test]
    fn what_a_chosen_rule_decides_counts_for_it_alone() {
        let text = "pass M1 A0 U1 U2 | turns 1 | summarizer text\n  handed prior \"M1\"; U1\n  pinned A0\n  preserved U2\n";
        let steps = notation::read(text).unwrap();
        let told =
            |line: &str| vec![vec![line.to_owned(), "pinned A0".to_owned(), "preserved U2".to_owned()]];
        let overlap = told("handed prior \"M1\"; U1 U2");
        assert_eq!(differs("summary.input", &steps, &overlap), None);
        assert!(differs("summary.input-only", &steps, &overlap).is_some());
        let spelt = told("handed prior \"M1\\nM1\"; U1");
        assert_eq!(differs("summary.prior-handed", &steps, &spelt), None);
        assert!(differs("summary.prior-text", &steps, &spelt).is_some());
        assert!(differs("summary.prior-handed", &steps, &told("handed U1")).is_some());
        assert!(differs("summary.input", &steps, &told("handed prior \"M1\"; A0")).is_some());

        let steps = notation::read("compact turns 1\n  raced\n").unwrap();
        assert_eq!(differs("log.race", &steps, &[vec!["unchanged".to_owned()]]), None);
        assert!(differs("log.race-told", &steps, &[vec!["unchanged".to_owned()]]).is_some());
    }
}
