//! The house rules that no compiler keeps: each rule travels whole, rooms have walls, files say what they are for.
//! Every check is tried on a text that must fail it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use turnfold_conformance::rules::properties;
use turnfold_spec::RULES;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file of the project by its path from the root, what is built or hidden left out.
fn files() -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                let built = ["target", ".git", "__pycache__", "node_modules"].contains(&name.as_str());
                if !built {
                    folders.push(path);
                }
            } else {
                let from_root = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                found.insert(from_root, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn texts(files: &BTreeMap<String, Vec<u8>>, ending: &str) -> BTreeMap<String, String> {
    files
        .iter()
        .filter(|(path, _)| path.ends_with(ending))
        .filter_map(|(path, bytes)| Some((path.clone(), String::from_utf8(bytes.clone()).ok()?)))
        .collect()
}

/// The ids behind `rule: ` marks.
fn marks(source: &str) -> BTreeSet<String> {
    source
        .split("rule: ")
        .skip(1)
        .filter_map(|rest| {
            let id: String = rest
                .chars()
                .take_while(|letter| letter.is_ascii_lowercase() || ".-".contains(*letter))
                .collect();
            id.contains('.').then(|| id.trim_end_matches('.').to_owned())
        })
        .collect()
}

/// Places that don't hold the same rules as the spec.
fn untravelled(spec: &BTreeSet<String>, places: &[(&str, BTreeSet<String>)]) -> Vec<String> {
    places
        .iter()
        .flat_map(|(place, held)| {
            let missing = spec.difference(held).map(move |id| format!("{place} lacks `{id}`"));
            let strange =
                held.difference(spec).map(move |id| format!("{place} has `{id}`, which is no rule"));
            missing.chain(strange).collect::<Vec<_>>()
        })
        .collect()
}

fn stems(files: &BTreeMap<String, Vec<u8>>, folder: &str, ending: &str) -> BTreeSet<String> {
    files
        .keys()
        .filter_map(|path| path.strip_prefix(folder)?.strip_suffix(ending).map(str::to_owned))
        .filter(|stem| !stem.contains('/'))
        .collect()
}

#[test]
fn every_rule_travels_whole() {
    let files = files();
    let spec: BTreeSet<String> = RULES.iter().map(|rule| rule.id.clone()).collect();
    let core = texts(&files, ".rs");
    let marked = core
        .iter()
        .filter(|(path, _)| path.starts_with("core/src/"))
        .flat_map(|(_, text)| marks(text))
        .collect();
    let places = [
        ("core/src (marks)", marked),
        (
            "conformance/src/rules (properties)",
            properties().map(|property| property.rule.to_owned()).collect(),
        ),
        ("conformance/cases", stems(&files, "conformance/cases/", ".txt")),
        ("conformance/snapshots", stems(&files, "conformance/snapshots/", ".snap")),
    ];
    let faults = untravelled(&spec, &places);
    assert!(faults.is_empty(), "{}", faults.join("\n"));

    let some = BTreeSet::from(["a.b".to_owned()]);
    let faults = untravelled(&some, &[("here", BTreeSet::from(["a.c".to_owned()]))]);
    assert_eq!(faults, ["here lacks `a.b`", "here has `a.c`, which is no rule"]);
    assert_eq!(marks("x // rule: a.b rule: c.d-e."), BTreeSet::from(["a.b".to_owned(), "c.d-e".to_owned()]));
}

/// Sources that don't say first what they are for.
fn headless(sources: &BTreeMap<String, String>) -> Vec<&str> {
    let says = |text: &str| {
        text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"))
    };
    sources.iter().filter(|(_, text)| !says(text)).map(|(path, _)| path.as_str()).collect()
}

#[test]
fn every_source_says_what_it_is_for() {
    assert_eq!(headless(&texts(&files(), ".rs")), Vec::<&str>::new());
    let silent = BTreeMap::from([("a.rs".to_owned(), "use std::fmt;\n//! late\n".to_owned())]);
    assert_eq!(headless(&silent), ["a.rs"]);
}

/// What each crate of ours may depend on, of ours.
const ARROWS: [(&str, &[&str]); 6] = [
    ("spec", &[]),
    ("core", &[]),
    ("plugins/abi", &[]),
    ("conformance", &["turnfold-core", "turnfold-spec"]),
    ("conformance/cli", &["turnfold-conformance", "turnfold-core", "turnfold-spec"]),
    ("benches", &["turnfold-core"]),
];

/// Dependencies of ours that point through a wall.
fn through_walls(manifests: &BTreeMap<String, String>) -> Vec<String> {
    manifests
        .iter()
        .filter(|(path, _)| path.as_str() != "Cargo.toml")
        .flat_map(|(path, text)| {
            let folder = path.trim_end_matches("/Cargo.toml");
            let allowed = ARROWS.iter().find(|(name, _)| *name == folder).map(|(_, allowed)| *allowed);
            let ours = text.lines().filter_map(|line| {
                let name: &str = line.split(['.', ' ', '=']).next()?;
                (name == "turnfold" || name.starts_with("turnfold-")).then(|| name.to_owned())
            });
            ours.filter(move |name| !allowed.is_some_and(|allowed| allowed.contains(&name.as_str())))
                .map(move |name| format!("{path} depends on {name}"))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn arrows_point_one_way() {
    let manifests: BTreeMap<String, String> =
        texts(&files(), "Cargo.toml").into_iter().filter(|(path, _)| !path.contains("fixtures")).collect();
    assert_eq!(through_walls(&manifests), Vec::<String>::new());
    assert!(manifests.len() > ARROWS.len(), "every room has its manifest, and the root has one");
    let wrong = BTreeMap::from([("core/Cargo.toml".to_owned(), "turnfold-spec.workspace = true".to_owned())]);
    assert_eq!(through_walls(&wrong), ["core/Cargo.toml depends on turnfold-spec"]);
}

/// What core must not know outside its features: files, clocks, chance, plugins, the spec.
fn strangers(core: &BTreeMap<String, String>) -> Vec<String> {
    let words = [
        "std::fs",
        "std::time",
        "SystemTime",
        "Instant",
        "rand::",
        "serde_json",
        "libloading",
        "include_str!",
        "unsafe ",
    ];
    core.iter()
        .filter(|(path, _)| path.starts_with("core/src/") && !path.contains("jsonl"))
        .flat_map(|(path, text)| {
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let held: Vec<&str> = lines.collect();
            words
                .iter()
                .filter(move |word| held.iter().any(|line| line.contains(**word)))
                .map(move |word| format!("{path} knows `{}`", word.trim()))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn core_knows_no_strangers() {
    assert_eq!(strangers(&texts(&files(), ".rs")), Vec::<String>::new());
    let wrong =
        BTreeMap::from([("core/src/pass.rs".to_owned(), "//! x\nuse std::time::Duration;\n".to_owned())]);
    assert_eq!(strangers(&wrong), ["core/src/pass.rs knows `std::time`"]);
}

/// Rooms of the top level, and what may lie beside them.
const TOP: [&str; 11] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "conformance",
    "core",
    "plugins",
    "rustfmt.toml",
    "spec",
];

#[test]
fn the_top_level_is_fixed() {
    let tops: BTreeSet<String> = files()
        .into_keys()
        .filter_map(|path| path.split('/').next().map(str::to_owned))
        .filter(|name| !name.starts_with('.'))
        .collect();
    let fixed: BTreeSet<String> = TOP.map(str::to_owned).into();
    assert_eq!(tops, fixed);
}

/// Text files that would differ between machines, or name one.
fn untidy(files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let endings = [".rs", ".md", ".toml", ".txt", ".json", ".snap", ".py", ".yaml", "run"];
    let machine = [
        concat!("/wor", "k/"),
        concat!("/roo", "t/"),
        concat!("crates", ".io/api"),
        concat!("regis", "try.npmjs"),
    ];
    let mut faults = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| endings.iter().any(|ending| path.ends_with(ending)))
    {
        let Ok(text) = std::str::from_utf8(bytes) else {
            faults.push(format!("{path} is not UTF-8"));
            continue;
        };
        if text.contains('\r') && !path.contains("fixtures") {
            faults.push(format!("{path} has a carriage return"));
        }
        if !text.is_empty() && !text.ends_with('\n') && !path.contains("fixtures") {
            faults.push(format!("{path} does not end with a newline"));
        }
        if let Some(name) = machine.iter().find(|name| text.contains(**name)) {
            faults.push(format!("{path} names `{name}`"));
        }
    }
    faults
}

#[test]
fn files_are_alike_on_every_machine() {
    assert_eq!(untidy(&files()), Vec::<String>::new());
    let wrong = BTreeMap::from([
        ("a.md".to_owned(), b"x\r\n".to_vec()),
        ("b.rs".to_owned(), b"x".to_vec()),
        ("c.txt".to_owned(), vec![0xff]),
        ("d.py".to_owned(), format!("see {}\n", concat!("/wor", "k/here")).into_bytes()),
    ]);
    assert_eq!(untidy(&wrong).len(), 4);
}

/// Names that say nothing of what is inside.
#[test]
fn no_file_is_a_drawer() {
    let drawer = |path: &&String| {
        ["utils.rs", "util.rs", "common.rs", "types.rs", "helpers.rs", "misc.rs"]
            .iter()
            .any(|name| path.ends_with(name))
    };
    let files = files();
    assert_eq!(files.keys().filter(drawer).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(drawer(&&"core/src/utils.rs".to_owned()));
}

/// Snapshots that wait for a review must not be committed.
#[test]
fn no_snapshot_is_pending() {
    let pending = |path: &&String| path.ends_with(".snap.new") || path.ends_with(".pending-snap");
    assert_eq!(files().keys().filter(pending).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(pending(&&"a.snap.new".to_owned()));
}

#[test]
fn the_readme_names_the_two_commands_that_ci_runs() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    for command in ["cargo run --release -- verify", "cargo test --workspace"] {
        assert!(readme.contains(command), "README.md lacks `{command}`");
        assert!(ci.contains(command), ".ci/run lacks `{command}`");
    }
}
