//! Holds the rule book to what it promises its readers: links that lead somewhere, terms that are defined
//! and linked, sentences that are one sentence, ids that are those of the page the project agreed on.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use turnfold_spec::{RULE_BOOK, RULES, Rule, Standing, anchor};

/// The lines of the book outside its fenced blocks.
fn prose() -> impl Iterator<Item = &'static str> {
    let mut fenced = false;
    RULE_BOOK.lines().filter(move |line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

fn headings() -> impl Iterator<Item = &'static str> {
    prose().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim())
}

fn glossary_terms() -> Vec<&'static str> {
    let terms: Vec<&str> = prose()
        .skip_while(|line| *line != "## Glossary")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    assert!(terms.contains(&"preamble"), "{terms:?}");
    terms
}

/// The links of a text, each as its words and its target without the `#`, and the text with its links left
/// out.
fn links(text: &str) -> (Vec<(&str, &str)>, String) {
    let mut links = Vec::new();
    let mut without = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (target, after) = after.split_once(')').expect("a link is closed");
        let target = target.strip_prefix('#').unwrap_or_else(|| panic!("`{target}` leaves the book"));
        let (before, linked) = before.rsplit_once('[').expect("a link is opened");
        links.push((linked, target));
        without.push_str(before);
        rest = after;
    }
    without.push_str(rest);
    (links, without)
}

/// The sentence of a rule as the book writes it, with its links.
fn written_sentence(rule: &Rule) -> &'static str {
    let (_, from_heading) = RULE_BOOK.split_once(&format!("### {}\n", rule.id)).expect("a heading");
    from_heading.trim_start().split("\n\n").nth(1).expect("a sentence")
}

#[test]
fn every_link_leads_to_a_heading_of_the_book_and_to_the_one_it_names() {
    let anchors: BTreeSet<String> = headings().map(anchor).collect();
    let terms = glossary_terms();
    let mut seen = 0;
    for line in prose() {
        for (linked, target) in links(line).0 {
            assert!(anchors.contains(target), "`#{target}` is no heading, in: {line}");
            let term = terms.iter().find(|term| linked == **term || linked.strip_suffix('s') == Some(term));
            assert!(
                term.is_none_or(|term| anchor(term) == target),
                "`{linked}` links to `#{target}`, in: {line}"
            );
            seen += 1;
        }
    }
    assert!(seen > RULES.len(), "{seen} links were found");
}

#[test]
fn every_term_of_the_glossary_is_linked() {
    let linked: BTreeSet<&str> = prose().flat_map(|line| links(line).0).map(|(_, target)| target).collect();
    for term in glossary_terms() {
        assert!(linked.contains(anchor(term).as_str()), "nothing links to `{term}`");
    }
}

#[test]
fn every_term_of_the_glossary_is_defined_once() {
    let terms = glossary_terms();
    let distinct: BTreeSet<&str> = terms.iter().copied().collect();
    assert_eq!(distinct.len(), terms.len());
    assert!(terms.is_sorted_by_key(|term| term.to_lowercase()), "out of order: {terms:?}");
}

#[test]
fn within_a_family_a_term_is_linked_where_it_is_first_used() {
    let mut terms = glossary_terms();
    terms.sort_by_key(|term| usize::MAX - term.len()); // `turn start` before `turn`
    let mut linked = BTreeSet::new();
    let mut family = "";
    for rule in RULES.iter() {
        if rule.family != family {
            linked.clear();
            family = &rule.family;
        }
        let (links, rest) = links(written_sentence(rule));
        linked.extend(links.into_iter().map(|(_, target)| target));
        let words = rest.split('`').step_by(2).collect::<String>().to_lowercase(); // code is no use of a term
        let mut rest = format!(" {} ", words.replace(|c: char| !c.is_alphanumeric(), " "));
        for term in &terms {
            for used in [format!(" {term} "), format!(" {term}s ")] {
                if rest.contains(&used) {
                    rest = rest.replace(&used, " . ");
                    assert!(linked.contains(anchor(term).as_str()), "`{}` does not link `{term}`", rule.id);
                }
            }
        }
    }
}

#[test]
fn each_sentence_is_one_sentence_of_plain_text() {
    for rule in RULES.iter() {
        let sentence = &rule.sentence;
        assert!(sentence.ends_with('.'), "{}: {sentence}", rule.id);
        assert!(sentence.starts_with(|c: char| c.is_uppercase()), "{}: {sentence}", rule.id);
        for end in [". ", "! ", "? ", "](", "\n", "  "] {
            assert!(!sentence.contains(end), "{} holds {end:?}: {sentence}", rule.id);
        }
    }
}

#[test]
fn every_rule_stands_under_its_heading_in_the_order_of_the_data() {
    let of_the_book: Vec<&str> = headings().filter(|heading| heading.contains('.')).collect();
    let of_the_data: Vec<&str> = RULES.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(of_the_book, of_the_data);
    for rule in RULES.iter() {
        assert_eq!(RULE_BOOK.lines().nth(rule.line - 1), Some(format!("### {}", rule.id).as_str()));
        assert_eq!(rule.anchor, anchor(&rule.id));
        assert!(written_sentence(rule).ends_with('.'));
    }
}

#[test]
fn the_source_of_a_rule_suits_its_standing() {
    for rule in RULES.iter() {
        let (id, source) = (&rule.id, &rule.source);
        match rule.standing {
            Standing::Documented => assert!(
                source.starts_with("WindowCompactionStrategy, ") || source.starts_with("Spring AI 2.1 "),
                "{id}: {source}"
            ),
            Standing::Derived => {
                assert!(source.starts_with("from "), "{id}: {source}");
                let named = RULES.iter().filter(|other| other.id != *id && source.contains(&other.id));
                assert!(named.count() > 0, "{id} is derived from no rule: {source}");
            }
            Standing::Chosen => assert!(source.starts_with("the source "), "{id}: {source}"),
        }
    }
}

/// The ids that a text names, that is, its words that have the form of a rule's id.
fn named_ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_lowercase() || c == '.' || c == '-'))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| {
            word.split_once('.').is_some_and(|(family, _)| RULES.iter().any(|rule| rule.family == family))
        })
}

#[test]
fn every_id_that_the_book_names_is_that_of_a_rule() {
    let mut seen = 0;
    for line in prose() {
        for id in named_ids(line) {
            let meant = || Rule::nearest(id).map(|rule| rule.id.as_str());
            assert!(Rule::find(id).is_some(), "`{id}` is no rule, is {:?} meant, in: {line}", meant());
            seen += 1;
        }
    }
    assert!(seen > RULES.len(), "{seen} ids were found");
}

#[test]
fn ids_order_and_standings_are_those_of_the_page_that_the_project_agreed_on() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/SEMANTICS.md");
    let Ok(page) = fs::read_to_string(&page) else {
        println!("skipped: the page of the agreed semantics is not beside this working tree");
        return;
    };
    let rows: Vec<(&str, &str, &str)> = page
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
            let [id, sentence, standing] = cells.as_slice() else { return None };
            let standing = standing.split(' ').next()?;
            Standing::named(standing).map(|_| (*id, *sentence, standing))
        })
        .collect();
    let agreed: Vec<(&str, &str)> = rows.iter().map(|(id, _, standing)| (*id, *standing)).collect();
    let ours: Vec<(&str, &str)> =
        RULES.iter().map(|rule| (rule.id.as_str(), rule.standing.as_str())).collect();
    assert_eq!(ours, agreed);
    for (rule, (id, sentence, _)) in RULES.iter().zip(rows) {
        assert_ne!(rule.sentence, sentence, "`{id}` repeats the page instead of saying it in its own words");
    }
}

#[test]
fn every_page_ends_its_lines_with_a_line_feed_and_nothing_else() {
    let mut seen = 0;
    for entry in fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the folder of this crate") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_name().expect("a file name").display();
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{name} does not end in one line feed");
        for (line, content) in (1..).zip(text.split('\n')) {
            assert!(!content.contains(['\r', '\t']), "{name}:{line} holds a carriage return or a tab");
            assert_eq!(content.trim_end(), content, "{name}:{line} ends in white space");
        }
        seen += 1;
    }
    assert!(seen > 0, "no page was found");
}
