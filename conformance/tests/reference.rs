//! The reference keeps every rule, and the run that says so judged every one.

use turnfold_conformance::{
    reference::Reference,
    report::{Status, Verdict},
    verify::{Options, verify},
};

#[test]
fn the_reference_conforms() {
    let options = Options { cases: 3_000, ..Options::default() };
    let report = verify(&mut Reference::default(), &options, &mut |_, _| {}).unwrap();
    for rule in &report.rules {
        assert!(matches!(rule.status, Status::Passed), "{}: {:#?}", rule.id, rule.status);
    }
    assert_eq!(report.rules.len(), turnfold_spec::RULES.len());
    assert_eq!(report.faults.len(), 0, "{:#?}", report.faults);
    assert_eq!(report.verdict(), Verdict::Conforms);
}
