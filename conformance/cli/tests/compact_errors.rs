//! What `turnfold compact` says of what it can't compact: what was found, what was expected, where, what to do.

use std::{
    error::Error,
    io::Write,
    process::{Command, Stdio},
};

type Tested = Result<(), Box<dyn Error>>;

/// The exit code and what was said on standard error, for this on standard input.
fn refused(input: &[u8], arguments: &[&str]) -> Result<(Option<i32>, String), Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnfold"));
    command
        .arg("compact")
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"));
    command.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that refuses its arguments doesn't read.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output()?;
    assert!(output.stdout.is_empty(), "nothing is printed beside an error");
    Ok((output.status.code(), String::from_utf8(output.stderr)?))
}

/// Every case is refused with exit code 1 and one line that says this.
fn assert_refused(cases: &[(&[u8], &str)]) -> Tested {
    for (input, says) in cases {
        let (code, said) = refused(input, &["-", "--last-turns", "1"])?;
        assert_eq!(code, Some(1), "{said}");
        assert!(said.starts_with("turnfold: ") && said.contains(says), "expected `{says}` in `{said}`");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    Ok(())
}

#[test]
fn inputs_that_are_no_transcript() -> Tested {
    let deep = format!("[{{\"role\":\"user\",\"content\":{}", "[".repeat(200));
    assert_refused(&[
        (b"", "standard input is empty, expected a transcript"),
        (b" \n", "standard input is empty"),
        (b"\xef\xbb\xbf", "standard input is empty"),
        (b"[\"\xff\"]", "standard input isn't UTF-8: found byte 0xff at offset 2, expected UTF-8 text"),
        (b"\xff\xfe[\0]\0", "standard input is UTF-16, expected UTF-8: convert it"),
        (b"[{\"role\":", "isn't JSON at line 1, column 9: EOF while parsing a value: is it cut off?"),
        (
            b"{\"role\":\"user\",\"content\":\"a\"}\n{\"ro",
            "isn't JSON at line 2, column 4: EOF while parsing a string",
        ),
        (b"User: hello", "isn't JSON at line 1, column 1: expected value, expected JSON, or JSON lines"),
        (
            b"[1,2,3]",
            "holds no messages with a `role`: found a list that begins with the number `1`; expected OpenAI",
        ),
        (b"\"text\"", "found the string `text`"),
        (b"{\"a\":1}", "found an object with `a`; expected OpenAI messages or Anthropic messages"),
        (b"{\"messages\":[{\"text\":\"x\"}]}", "found an object with `messages`"),
        (b"{\"a\":1}\n{\"b\":2}", "found JSON lines of which line 1 is an object with `a`"),
        (deep.as_bytes(), "recursion limit exceeded: it nests more than 127 deep"),
    ])
}

#[test]
fn messages_that_are_none() -> Tested {
    assert_refused(&[
        (
            b"[{\"role\":\"user\",\"content\":\"\"},{\"content\":\"x\"}]",
            "message 2 has no `role`, expected `system`",
        ),
        (
            b"[{\"role\":\"robot\",\"content\":\"\"}]",
            "message 1 has the unknown role `robot`, expected `system`",
        ),
        (
            b"[{\"role\":\"user\",\"content\":\"\"},7]",
            "message 2 is the number `7`, expected an object with `role`",
        ),
        (
            b"[{\"role\":\"user\",\"content\":7}]",
            "message 1 has as `content` the number `7`, expected a string",
        ),
        (b"{\"role\":\"user\"}\n\n{\"role\":\"usr\"}", "message 2 (line 3) has the unknown role `usr`"),
        (
            b"[{\"messages\":[{\"role\":\"user\"}]},{\"messages\":[{\"role\":\"user\"},{\"role\":1}]}]",
            "dialogue 2: message 2 has as `role` the number `1`",
        ),
        (
            b"[{\"messages\":[{\"role\":\"user\"}]},{\"x\":1}]",
            "dialogue 2 is an object with `x`, expected a list of messages with `role`, or an object that holds one",
        ),
        (b"[[{\"role\":\"user\"}],3]", "dialogue 2 is the number `3`"),
        (b"{\"messages\":[{\"role\":\"user\"}]}\n[1]", "line 2 is a list that begins with the number `1`"),
        (
            b"{\"system\":5,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}]}",
            "`system` is the number `5`, expected a string or a list of blocks",
        ),
        (
            b"{\"id\":\"e\",\"role\":\"user\",\"text\":\"\",\"tokens\":-1}",
            "line 1 is no event: `tokens` is `-1`",
        ),
        (
            b"{\"id\":\"e\",\"role\":\"user\",\"text\":\"\"}\n{\"id\":\"e\",\"role\":\"user\",\"text\":\"\"}",
            "is no log: id `e` stands at position 0 and again at 1",
        ),
        (
            b"{\"id\":\"b\",\"type\":\"COMPACTION\",\"payload\":{\"pinned\":[\"x\"],\"preserved\":[]}}",
            "boundary `b` names `x`, which is unknown",
        ),
    ])
}

#[test]
fn formats_that_arent_read_are_named() -> Tested {
    for (input, format) in [
        (
            r#"{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"x"}}"#,
            "a Claude Code session",
        ),
        (r#"{"loglines":[]}"#, "a Claude Code web session"),
        (r#"{"timestamp":"t","type":"session_meta","payload":{}}"#, "a Codex rollout"),
        (r#"{"version":2,"eval":{},"plan":{},"samples":[]}"#, "an inspect_ai log"),
        (
            r#"{"sessionId":"s","projectHash":"p","messages":[{"type":"user","content":"x"}]}"#,
            "a Gemini CLI session",
        ),
        (r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}]}"#, "a Gemini API request"),
        (
            r#"[{"lc":1,"type":"constructor","id":["langchain"],"kwargs":{}}]"#,
            "LangChain's serialised messages",
        ),
        (r#"[{"id":0,"source":"user","action":"message"}]"#, "an OpenHands trajectory"),
        (r#"{"id":"e","timestamp":"t","source":"agent","kind":"MessageEvent"}"#, "OpenHands events"),
        (r#"{"issue":{},"history":[{"action":"run"}],"git_patch":""}"#, "an OpenHands evaluation output"),
        (r#"{"id":"m","sessionID":"s","role":"user","time":{}}"#, "a file of OpenCode's storage"),
        (r#"{"type":"session","id":"s","cwd":"/","provider":"p","modelId":"m"}"#, "a pi session"),
        (r#"{"type":"session.start","data":{},"id":"e","timestamp":"t"}"#, "a Copilot CLI session"),
        (r#"{"id":"s","events":[],"past_events":[]}"#, "a Google ADK session"),
    ] {
        let (code, said) = refused(input.as_bytes(), &["-", "--last-turns", "1"])?;
        assert_eq!(code, Some(1));
        let says = format!("looks like {format}, which this command doesn't read; expected OpenAI messages");
        assert!(said.contains(&says), "{input}: {said}");
    }
    let lines = "{\"type\":\"summary\"}\n{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\"}";
    let (_, said) = refused(lines.as_bytes(), &["-", "--last-turns", "1"])?;
    assert!(said.contains("looks like a Claude Code session"), "{said}");
    Ok(())
}

#[test]
fn files_that_cant_be_read() -> Tested {
    for (file, says) in [
        ("nowhere.json", "`nowhere.json` can't be read: "),
        (".", "`.` is a directory, expected a transcript: give one of its files"),
    ] {
        let (code, said) = refused(b"", &[file, "--last-turns", "1"])?;
        assert!(code == Some(1) && said.contains(says), "{said}");
    }
    Ok(())
}

/// A file with a hole is as long as it says and takes no room.
#[test]
fn a_huge_file_is_refused_before_it_is_read() -> Tested {
    let file = tempfile::NamedTempFile::new()?;
    file.as_file().set_len((1 << 30) + 1)?;
    let path = file.path().display().to_string();
    let (code, said) = refused(b"", &[&path, "--last-turns", "1"])?;
    assert!(
        code == Some(1) && said.contains("has 1073741825 bytes, expected 1073741824 at most: split it"),
        "{said}"
    );
    Ok(())
}

#[test]
fn command_lines_that_make_no_sense() -> Tested {
    for (arguments, says) in [
        (&["openai-chat.json"][..], "--last-events <N>|--last-turns <N>|--token-budget <N>"),
        (&["openai-chat.json", "--last-turns", "1", "--last-events", "1"], "cannot be used with"),
        (&["openai-chat.json", "--last-turns", "0"], "window size `0` is out of range, expected 1 to"),
        (&["openai-chat.json", "--last-turns", "many"], "expected a whole number from 1 up"),
        (&["openai-chat.json", "--token-budget", "9007199254740992"], "is out of range"),
        (&["openai-chat.json", "--last-turns", "1", "--dialogue", "0"], "0 is not in 1.."),
        (
            &["dialogues.json", "--last-turns", "1", "--dialogue", "5"],
            "dialogue 5 was asked for, and the file has 4 dialogues",
        ),
        (
            &["dialogues.json", "--last-turns", "1", "--format", "jsonl"],
            "has 4 dialogues, which make no one log: choose one",
        ),
        (
            &["openai-chat.json", "--last-turns", "1", "--write"],
            "holds OpenAI messages, and only a Turnfold log can be written",
        ),
        (&["openai-chat.json", "--last-turns", "1", "--format", "xml"], "invalid value 'xml'"),
    ] {
        let (code, said) = refused(b"", arguments)?;
        assert_eq!(code, Some(64), "{said}");
        assert!(said.contains(says), "expected `{says}` in `{said}`");
    }
    let log = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/session.jsonl"))?;
    let (code, said) = refused(&log, &["-", "--last-turns", "1"])?;
    assert!(code == Some(64) && said.contains("give the path instead of `-`"), "{said}");
    let (code, said) =
        refused(b"{\"id\":\"e\",\"role\":\"user\",\"text\":\"\"}", &["-", "--last-turns", "1", "--write"])?;
    assert!(code == Some(64) && said.contains("event lines without a log's header"), "{said}");
    Ok(())
}
