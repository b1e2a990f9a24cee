//! The run: written cases first, then random ones; every rule judged on every case; what breaks is shrunk.

use std::collections::BTreeMap;

use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use turnfold_core::Window;
use turnfold_spec::{RULES, Rule};

use crate::{
    example,
    generate::Family,
    notation::{self, Step},
    protocol::{Capabilities, Hello, PROTOCOL, WindowKind},
    reference::Reference,
    report::{Broken, Failure, Oracle, Report, RuleReport, Status},
    rules::{Judgement, Property, Seen, properties},
    run::{Transcript, run},
    script::{Op, Script},
    shrink::shrink,
    snapshot,
    subject::{Fault, FaultKind, Subject},
    vector,
};

/// How a subject is verified.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many random cases
    pub cases: u32,
    /// What they are made from: the same seed makes the same cases
    pub seed: u64,
    /// The rules to judge; all, if none is named
    pub rules: Vec<String>,
    /// Whether a chosen rule counts
    pub strict: bool,
    /// How many smaller sessions are tried for a counterexample
    pub shrink_tries: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { cases: 10_000, seed: 0, rules: Vec::new(), strict: false, shrink_tries: 2_000 }
    }
}

/// Faults of the same kind after which a run is given up.
const FAULTS_AT_MOST: u32 = 10;

/// Verifies a subject. `progress` is told how many cases are done, of how many.
///
/// # Errors
///
/// The subject can't be reached at all, or speaks another protocol.
pub fn verify<S: Subject + ?Sized>(
    subject: &mut S,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report, Fault> {
    let hello = subject.hello()?;
    if hello.protocol != PROTOCOL {
        return Err(Fault::protocol(format!(
            "the subject chose protocol {}, expected {PROTOCOL}, the only one offered",
            hello.protocol
        )));
    }
    let mut verification = Verification::new(subject, &hello, options);
    let written = written_cases();
    let total = written.len() as u64 + u64::from(options.cases);
    for (nth, case) in written.iter().enumerate() {
        if !verification.written(case) {
            break;
        }
        progress(nth as u64 + 1, total);
    }
    verification.random(&mut |cases| progress(written.len() as u64 + cases, total));
    Ok(verification.report(hello))
}

/// A case that was written down with its answers.
struct Written {
    oracle: Oracle,
    rules: Vec<String>,
    steps: Vec<Step>,
}

fn written_cases() -> Vec<Written> {
    let examples = RULES.iter().filter_map(|rule| {
        let steps = notation::read(&rule.example).ok()?;
        Some(Written { oracle: Oracle::Example, rules: vec![rule.id.clone()], steps })
    });
    let snapshots = snapshot::all().into_iter().map(|(rule, steps)| Written {
        oracle: Oracle::Snapshot,
        rules: vec![rule],
        steps,
    });
    let vectors = vector::all().into_iter().map(|vector| Written {
        oracle: Oracle::Vector,
        rules: vector.rules.clone(),
        steps: vector.steps(),
    });
    examples.chain(snapshots).chain(vectors).collect()
}

struct Tally {
    rule: &'static Rule,
    property: &'static Property,
    wanted: bool,
    checks: u64,
    failure: Option<Failure>,
    /// Whether the property has broken, and its session was made small
    broke: bool,
}

struct Verification<'s, S: ?Sized> {
    subject: &'s mut S,
    can: Capabilities,
    options: &'s Options,
    tallies: Vec<Tally>,
    faults: BTreeMap<FaultKind, (u32, Broken)>,
    cases: u64,
    passes: u64,
}

impl<'s, S: Subject + ?Sized> Verification<'s, S> {
    fn new(subject: &'s mut S, hello: &Hello, options: &'s Options) -> Self {
        let wanted = |rule: &Rule| options.rules.is_empty() || options.rules.contains(&rule.id);
        let tallies = RULES
            .iter()
            .zip(properties())
            .map(|(rule, property)| Tally {
                rule,
                property,
                wanted: wanted(rule),
                checks: 0,
                failure: None,
                broke: false,
            })
            .collect();
        Self {
            subject,
            can: hello.capabilities.clone(),
            options,
            tallies,
            faults: BTreeMap::new(),
            cases: 0,
            passes: 0,
        }
    }

    /// Runs one written case; false when the subject is gone for good.
    fn written(&mut self, case: &Written) -> bool {
        let script = notation::script(&case.steps);
        if !allows(&self.can, &script) {
            return true;
        }
        let Some(transcript) = self.run(&script) else { return self.is_alive() };
        self.judge(&script, &transcript);
        self.compare(case, &script, &transcript);
        self.is_alive()
    }

    /// Compares the answers with those written down. A difference is laid to the case's own rule, unless a property
    /// says whose fault it is: an answer is written whole, and shows more than one rule.
    fn compare(&mut self, case: &Written, script: &Script, transcript: &Transcript) {
        let given = notation::answers(&case.steps, transcript);
        let own = |tally: &Tally| tally.wanted && case.rules.first() == Some(&tally.rule.id);
        let Some(at) = self.tallies.iter().position(own) else { return };
        let Some(rule) = self.tallies.get(at).map(|tally| tally.rule) else { return };
        if !example::speaks(&rule.id, &given) {
            return;
        }
        let Some(difference) = example::differs(&rule.id, &case.steps, &given) else {
            self.tallies.iter_mut().skip(at).take(1).for_each(|tally| tally.checks += 1);
            return;
        };
        let seen = Seen::passes(transcript);
        let explained =
            properties().any(|property| matches!(property.judge(transcript, &seen), Judgement::Breaks(_)));
        drop(seen);
        if explained || self.tallies.get(at).is_none_or(|tally| tally.failure.is_some()) {
            return;
        }
        let failure = self.explain(case.oracle, difference.to_string(), script, transcript);
        if let Some(tally) = self.tallies.get_mut(at) {
            tally.failure = Some(failure);
        }
    }

    fn random(&mut self, progress: &mut dyn FnMut(u64)) {
        let seed = self.options.seed.to_le_bytes().repeat(4);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner =
            TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
        let families: Vec<_> =
            Family::SHARES.into_iter().map(|(family, share)| (share, family.scripts())).collect();
        let scripts = proptest::strategy::Union::new_weighted(families);
        for nth in 1..=self.options.cases {
            let Ok(tree) = scripts.new_tree(&mut runner) else { continue };
            let script = tree.current();
            if allows(&self.can, &script) {
                match self.run(&script) {
                    Some(transcript) => self.judge(&script, &transcript),
                    None if self.is_alive() => {}
                    None => return,
                }
            }
            progress(u64::from(nth));
        }
    }

    fn run(&mut self, script: &Script) -> Option<Transcript> {
        self.cases += 1;
        match counted(self.subject, &mut self.passes, script) {
            Ok(transcript) => Some(transcript),
            Err(fault) => {
                self.fault(script, &fault);
                None
            }
        }
    }

    /// Keeps the first case that got no answer of each kind, as small as it gets.
    fn fault(&mut self, script: &Script, fault: &Fault) {
        if let Some((count, _)) = self.faults.get_mut(&fault.kind) {
            *count += 1;
            return;
        }
        let tries = match fault.kind {
            FaultKind::Refused => self.options.shrink_tries,
            FaultKind::Protocol | FaultKind::Crash => self.options.shrink_tries.min(100),
            FaultKind::Timeout | FaultKind::Start => 0,
        };
        let mut last = fault.clone();
        let smallest = shrink(script.clone(), tries, |candidate| {
            allows(&self.can, candidate)
                && match counted(self.subject, &mut self.passes, candidate) {
                    Err(again) if again.kind == fault.kind => {
                        last = again;
                        true
                    }
                    _ => false,
                }
        });
        self.faults.insert(
            fault.kind,
            (1, Broken { kind: fault.kind, message: last.message, script: notation::write(&smallest) }),
        );
    }

    fn is_alive(&self) -> bool {
        !self.faults.contains_key(&FaultKind::Start)
            && self.faults.values().all(|(count, _)| *count < FAULTS_AT_MOST)
    }

    fn judge(&mut self, script: &Script, transcript: &Transcript) {
        let seen = Seen::passes(transcript);
        let mut broken = Vec::new();
        for (at, tally) in self.tallies.iter_mut().enumerate() {
            if !tally.wanted || tally.broke {
                continue;
            }
            match tally.property.judge(transcript, &seen) {
                Judgement::Silent => {}
                Judgement::Holds => tally.checks += 1,
                Judgement::Breaks(why) => broken.push((at, why)),
            }
        }
        drop(seen);
        for (at, why) in broken {
            let failure = self.smallest(at, why, script, transcript);
            if let Some(tally) = self.tallies.get_mut(at) {
                tally.checks += 1;
                tally.broke = true;
                // A written case may have shown it before, seldom with a smaller session.
                if tally.failure.as_ref().is_none_or(|shown| failure.events <= shown.events) {
                    tally.failure = Some(failure);
                }
            }
        }
    }

    fn smallest(&mut self, at: usize, why: String, script: &Script, transcript: &Transcript) -> Failure {
        let Some(property) = self.tallies.get(at).map(|tally| tally.property) else {
            return self.explain(Oracle::Property, why, script, transcript);
        };
        let (can, subject, passes) = (&self.can, &mut *self.subject, &mut self.passes);
        let mut last = (why, transcript.clone());
        let smallest = shrink(script.clone(), self.options.shrink_tries, |candidate| {
            if !allows(can, candidate) {
                return false;
            }
            let Ok(transcript) = counted(subject, passes, candidate) else { return false };
            match property.judge(&transcript, &Seen::passes(&transcript)) {
                Judgement::Breaks(why) => {
                    last = (why, transcript);
                    true
                }
                Judgement::Holds | Judgement::Silent => false,
            }
        });
        self.explain(Oracle::Property, last.0, &smallest, &last.1)
    }

    /// What a person needs: the session, what is right, what was found, and the same once more.
    fn explain(&mut self, oracle: Oracle, why: String, script: &Script, found: &Transcript) -> Failure {
        let text = notation::write(script);
        let steps = steps_of(script);
        let right = run(&mut Reference::default(), script).unwrap_or_default();
        let reproduced = counted(self.subject, &mut self.passes, script).is_ok_and(|again| again == *found);
        // What the notation can't say, such as a text, is not in what replays it.
        let replays = notation::read(&text).is_ok_and(|steps| notation::script(&steps) == *script);
        Failure {
            oracle,
            why,
            events: script.event_count(),
            expected: notation::answers(&steps, &right),
            found: notation::answers(&steps, found),
            steps: steps.into_iter().map(|step| step.line).collect(),
            picture: crate::picture::of(&right, found),
            reproduced,
            replays,
        }
    }

    fn report(self, hello: Hello) -> Report {
        let rules = self
            .tallies
            .into_iter()
            .filter(|tally| tally.wanted)
            .map(|tally| {
                let lacks = tally.property.lacks(&self.can);
                let status = match (tally.failure, lacks) {
                    (Some(failure), _) => Status::Failed(Box::new(failure)),
                    (None, Some(lacks)) => Status::NotApplicable(lacks.into()),
                    (None, None) if tally.checks == 0 => match tally.property.may_leave_out() {
                        Some(what) => Status::NotApplicable(what.into()),
                        None => Status::Vacuous,
                    },
                    (None, None) => Status::Passed,
                };
                RuleReport {
                    id: tally.rule.id.clone(),
                    standing: tally.rule.standing,
                    sentence: tally.rule.sentence.clone(),
                    source: tally.rule.source.clone(),
                    checks: tally.checks,
                    status,
                }
            })
            .collect();
        Report {
            suite: env!("CARGO_PKG_VERSION").into(),
            subject: hello.implementation,
            capabilities: hello.capabilities,
            seed: self.options.seed,
            strict: self.options.strict,
            cases: self.cases,
            passes: self.passes,
            rules,
            faults: self.faults.into_values().map(|(_, broken)| broken).collect(),
        }
    }
}

/// Runs a script and counts its passes.
fn counted<S: Subject + ?Sized>(
    subject: &mut S,
    passes: &mut u64,
    script: &Script,
) -> Result<Transcript, Fault> {
    let is_pass = |op: &&Op| matches!(op, Op::Pass(_) | Op::Again | Op::Compact(_));
    *passes += script.0.iter().filter(is_pass).count() as u64;
    run(subject, script)
}

/// One step an operation, appends in a row together.
fn steps_of(script: &Script) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for op in &script.0 {
        match (steps.last_mut(), op) {
            (Some(step), Op::Append(_)) if matches!(step.ops.first(), Some(Op::Append(_))) => {
                step.ops.push(op.clone());
            }
            _ => steps.push(Step { line: String::new(), ops: vec![op.clone()], answer: Vec::new() }),
        }
    }
    for step in &mut steps {
        step.line = notation::write(&Script(step.ops.clone()));
    }
    steps
}

/// Whether a subject can be asked a script at all.
pub fn allows(can: &Capabilities, script: &Script) -> bool {
    let kind = |window: Window| match window {
        Window::Events(_) => WindowKind::Events,
        Window::Turns(_) => WindowKind::Turns,
        Window::Tokens(_) => WindowKind::Tokens,
    };
    script.windows().all(|window| can.windows.contains(&kind(window)))
        && (can.summarizer.is_some() || !script.is_summarizing())
        && (can.session || !script.is_session() || script.is_held())
        && (can.race || !script.is_raced())
        && (can.store.is_some() || !script.is_held())
}
