//! The report: what was judged, how, and the verdict; as data, and as text for people.

use serde::Serialize;
use turnfold_spec::Standing;

use crate::{
    picture::Picture,
    protocol::{Capabilities, Implementation},
    subject::FaultKind,
};

/// All that a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The suite's version
    pub suite: String,
    /// What was verified
    pub subject: Implementation,
    /// What it can do
    pub capabilities: Capabilities,
    /// What the random cases were made from
    pub seed: u64,
    /// Whether chosen rules count
    pub strict: bool,
    /// Cases run
    pub cases: u64,
    /// Passes asked for, those of smaller and smaller counterexamples included
    pub passes: u64,
    /// The rules, in the order of the spec
    pub rules: Vec<RuleReport>,
    /// Cases that got no answer, one of each kind
    pub faults: Vec<Broken>,
}

/// What was found of one rule.
#[derive(Clone, Debug, Serialize)]
pub struct RuleReport {
    /// The rule
    pub id: String,
    /// Its standing
    #[serde(serialize_with = "standing")]
    pub standing: Standing,
    /// Its sentence
    pub sentence: String,
    /// Its source
    pub source: String,
    /// How often it was judged
    pub checks: u64,
    /// How it ended
    pub status: Status,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form serde asks for")]
fn standing<S: serde::Serializer>(standing: &Standing, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(standing.as_str())
}

/// How a rule ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It held whenever it was judged
    Passed,
    /// It was broken
    Failed(Box<Failure>),
    /// The subject does not offer what the rule is about
    NotApplicable(String),
    /// It was never judged, so nothing is known of it
    Vacuous,
}

/// How a rule was broken.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// What found it
    pub oracle: Oracle,
    /// Why it is broken
    pub why: String,
    /// How many events the session has
    pub events: usize,
    /// The session, an operation a line
    pub steps: Vec<String>,
    /// The right answers, by operation
    pub expected: Vec<Vec<String>>,
    /// The answers found
    pub found: Vec<Vec<String>>,
    /// The view, event by event
    pub picture: Option<Picture>,
    /// Whether it came out the same once more
    pub reproduced: bool,
    /// Whether the steps as written replay it
    pub replays: bool,
}

/// What found a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Oracle {
    /// The rule's example in the book
    Example,
    /// The rule's snapshot
    Snapshot,
    /// A frozen case of the spec
    Vector,
    /// The rule's property
    Property,
}

impl Oracle {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Example => "the rule's example",
            Self::Snapshot => "the rule's snapshot",
            Self::Vector => "a frozen vector",
            Self::Property => "the rule's property",
        }
    }
}

/// A case that got no answer.
#[derive(Clone, Debug, Serialize)]
pub struct Broken {
    /// The kind of fault
    pub kind: FaultKind,
    /// What was seen
    pub message: String,
    /// The session
    pub script: String,
}

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every rule that counts holds
    Conforms,
    /// A rule that counts is broken, or a legal question got no answer
    Fails,
    /// Nothing could be judged
    NoVerdict,
    /// The subject does not keep the protocol
    Fault,
}

impl Verdict {
    /// The exit code: 0 conforms, 1 fails, 2 no verdict, 3 fault.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Conforms => 0,
            Self::Fails => 1,
            Self::NoVerdict => 2,
            Self::Fault => 3,
        }
    }
}

impl Report {
    /// Whether a rule's failure counts.
    pub fn counts(&self, rule: &RuleReport) -> bool {
        self.strict || rule.standing != Standing::Chosen
    }

    /// Rules that passed.
    pub fn passed(&self) -> usize {
        self.rules.iter().filter(|rule| matches!(rule.status, Status::Passed)).count()
    }

    /// Rules that are broken or never judged, and count.
    pub fn failed(&self) -> usize {
        self.rules.iter().filter(|rule| rule.is_bad() && self.counts(rule)).count()
    }

    /// Chosen rules that are read another way, which counts under `strict` only.
    pub fn read_otherwise(&self) -> usize {
        self.rules.iter().filter(|rule| rule.is_bad() && !self.counts(rule)).count()
    }

    /// Rules that do not apply.
    pub fn not_applicable(&self) -> usize {
        self.rules.iter().filter(|rule| matches!(rule.status, Status::NotApplicable(_))).count()
    }

    /// What it comes to.
    pub fn verdict(&self) -> Verdict {
        let keeps_protocol = |broken: &Broken| {
            matches!(broken.kind, FaultKind::Crash | FaultKind::Timeout | FaultKind::Refused)
        };
        if !self.faults.iter().all(keeps_protocol) {
            Verdict::Fault
        } else if self.failed() > 0 || !self.faults.is_empty() {
            Verdict::Fails
        } else if self.passed() == 0 {
            Verdict::NoVerdict
        } else {
            Verdict::Conforms
        }
    }
}

impl Report {
    /// The report as one JSON object: the verdict and the counts first, then all that was found.
    ///
    /// # Errors
    ///
    /// None that a report can have; the form serde asks for.
    pub fn to_json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Whole<'r> {
            verdict: Verdict,
            passed: usize,
            failed: usize,
            read_otherwise: usize,
            not_applicable: usize,
            #[serde(flatten)]
            report: &'r Report,
        }
        serde_json::to_string_pretty(&Whole {
            verdict: self.verdict(),
            passed: self.passed(),
            failed: self.failed(),
            read_otherwise: self.read_otherwise(),
            not_applicable: self.not_applicable(),
            report: self,
        })
    }
}

impl RuleReport {
    /// Whether it is broken or was never judged.
    pub fn is_bad(&self) -> bool {
        matches!(self.status, Status::Failed(_) | Status::Vacuous)
    }
}
