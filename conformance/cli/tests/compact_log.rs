//! `turnfold compact --write`: what is appended to a log, and that nothing is without it.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use turnfold_core::{
    Event, Role,
    jsonl::JsonlLog,
    session::{Added, SessionLog},
};

type Tested = Result<(), Box<dyn Error>>;

fn compact(path: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnfold"));
    command
        .arg("compact")
        .arg(path)
        .args(arguments)
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .output()
}

/// A copy of the fixture, gone with the folder.
fn log() -> std::io::Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("session.jsonl");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/session.jsonl"), &path)?;
    Ok((folder, path))
}

fn ids(log: &mut JsonlLog) -> Result<Vec<String>, Box<dyn Error>> {
    Ok(log.view()?.events().iter().map(|event| event.id.to_string()).collect())
}

#[test]
fn nothing_is_written_unless_asked() -> Tested {
    let (_folder, path) = log()?;
    let before = fs::read(&path)?;
    for format in ["strip", "table", "json", "jsonl", "openai", "anthropic"] {
        let output = compact(&path, &["--last-turns", "1", "--format", format, "--explain"])?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(fs::read(&path)?, before);
    Ok(())
}

#[test]
fn a_torn_tail_is_left_alone_by_a_reader_and_cut_off_by_a_writer() -> Tested {
    let (_folder, path) = log()?;
    let whole = fs::read(&path)?;
    let torn = [whole.as_slice(), b"{\"id\":\"late\",\"ro"].concat();
    fs::write(&path, &torn)?;
    assert!(compact(&path, &["--last-turns", "1"])?.status.success());
    assert_eq!(fs::read(&path)?, torn);

    let output = compact(&path, &["--last-turns", "1", "--write"])?;
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("ended in 16 bytes of a write that did not finish"), "{told}");
    assert!(fs::read(&path)?.starts_with(&whole));
    Ok(())
}

#[test]
fn a_written_boundary_defines_the_view() -> Tested {
    let (_folder, path) = log()?;
    let before = fs::read(&path)?;
    let output = compact(&path, &["--last-turns", "1", "--write"])?;
    let said = String::from_utf8(output.stdout)?;
    assert!(output.status.success() && said.contains("wrote boundary `compaction-"), "{said}");
    assert!(fs::read(&path)?.starts_with(&before), "nothing stored is changed");

    let mut log = JsonlLog::open(&path)?;
    assert_eq!(ids(&mut log)?, ["s1", "b1.user", "b1.assistant", "u3", "a4"]);
    log.verify()?;

    let length = fs::metadata(&path)?.len();
    let again = compact(&path, &["--last-turns", "1", "--write"])?;
    assert!(again.status.success());
    assert!(String::from_utf8(again.stdout)?.contains("wrote nothing, as nothing changes"));
    assert_eq!(fs::metadata(&path)?.len(), length);

    assert!(matches!(log.append(Event::message("u4", Role::User, "Frost."))?, Added::Added(_)));
    assert!(compact(&path, &["--token-budget", "1", "--write"])?.status.success());
    assert_eq!(ids(&mut JsonlLog::open(&path)?)?, ["s1", "b1.user", "b1.assistant", "u4"]);
    Ok(())
}

#[test]
fn a_report_tells_what_was_written() -> Tested {
    let (_folder, path) = log()?;
    let output = compact(&path, &["--last-turns", "1", "--write", "--format", "json"])?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let log = fs::read_to_string(&path)?;
    let boundary = report["written"]["boundary"].as_str().ok_or("a boundary's id")?;
    assert!(log.contains(&format!("{{\"id\":\"{boundary}\",\"type\":\"COMPACTION\"")));
    assert_eq!(report["written"]["version"], log.len());
    Ok(())
}

#[test]
fn a_damaged_log_is_said() -> Tested {
    let (_folder, path) = log()?;
    let text = fs::read_to_string(&path)?.replace("Rain at last", "Rain at most");
    fs::write(&path, text)?;
    let output = compact(&path, &["--last-turns", "1"])?;
    let told = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.starts_with("turnfold: log `"), "{told}");
    Ok(())
}
