//! Any subject as a protocol 1 program: it reads requests from one stream and writes answers to another.

use std::io::{self, BufRead, Write};

use turnfold_core::Event;

use crate::{
    line::{self, Asked, Half},
    protocol::{Answer, Call, ErrorClass, Said},
    subject::{Fault, FaultKind, Meanwhile, Subject, Suite},
};

/// Answers requests until the input ends.
///
/// # Errors
///
/// The input can't be read, the output can't be written, or a line is no request: it has no id to answer to.
pub fn serve<S: Subject>(subject: &mut S, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    let mut pipe = Pipe { input, output, line: Vec::new(), written: Vec::new() };
    while pipe.next()? {
        let (id, asked) = line::read_request(&pipe.line).map_err(invalid)?;
        let answer = match asked {
            Ok(Asked::Request(request)) => match subject.ask(&request, &mut Piped { pipe: &mut pipe, id }) {
                Ok(answer) => answer,
                Err(Fault { kind: FaultKind::Crash, .. }) => return Ok(()),
                Err(fault) => Answer::error(ErrorClass::Internal, &fault),
            },
            Ok(_) => Answer::error(ErrorClass::Internal, "an answer without a question, expected a request"),
            Err(why) => Answer::unsupported(why),
        };
        pipe.say(id, &answer)?;
    }
    Ok(())
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

struct Pipe<'p> {
    input: &'p mut dyn BufRead,
    output: &'p mut dyn Write,
    line: Vec<u8>,
    written: Vec<u8>,
}

impl Pipe<'_> {
    /// Reads the next line that isn't blank; false at the end.
    fn next(&mut self) -> io::Result<bool> {
        loop {
            self.line.clear();
            if self.input.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(false);
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    fn say(&mut self, id: u64, said: &impl serde::Serialize) -> io::Result<()> {
        line::write(id, said, &mut self.written).map_err(io::Error::other)?;
        self.output.write_all(&self.written)?;
        self.output.flush()
    }
}

/// The suite at the other end of the pipe, while it waits for an answer.
struct Piped<'a, 'p> {
    pipe: &'a mut Pipe<'p>,
    id: u64,
}

fn gone(error: &dyn std::fmt::Display) -> Fault {
    Fault { kind: FaultKind::Crash, message: error.to_string() }
}

impl Piped<'_, '_> {
    fn say(&mut self, said: &impl serde::Serialize) -> Result<(), Fault> {
        self.pipe.say(self.id, said).map_err(|error| gone(&error))
    }

    /// The next line that is about this question; others are requests to the session.
    fn hear(&mut self, session: &mut dyn Meanwhile) -> Result<Asked, Fault> {
        loop {
            if !self.pipe.next().map_err(|error| gone(&error))? {
                return Err(gone(&"the suite went away"));
            }
            let (id, asked) = line::read_request(&self.pipe.line).map_err(Fault::protocol)?;
            match asked {
                Ok(Asked::Request(request)) => {
                    let answer = session.ask(&request)?;
                    self.pipe.say(id, &answer).map_err(|error| gone(&error))?;
                }
                Ok(asked) if id == self.id => return Ok(asked),
                Ok(_) => {
                    return Err(Fault::protocol(format!("an answer to {id}, expected one to {}", self.id)));
                }
                Err(why) => self.pipe.say(id, &Answer::unsupported(why)).map_err(|error| gone(&error))?,
            }
        }
    }

    fn read(&mut self, half: Half) -> Result<Asked, Fault> {
        self.say(&serde_json::json!({ "read": half }))?;
        self.hear(&mut crate::subject::Closed)
    }
}

fn unexpected(expected: &str) -> Fault {
    Fault::protocol(format!("the suite answered something else than {expected}"))
}

impl Suite for Piped<'_, '_> {
    fn summarize(&mut self, call: Call, session: &mut dyn Meanwhile) -> Result<Said, Fault> {
        self.say(&serde_json::json!({ "summarize": call }))?;
        match self.hear(session)? {
            Asked::Summary(said) => Ok(said),
            _ => Err(unexpected("a summary")),
        }
    }

    fn read_version(&mut self) -> Result<u64, Fault> {
        match self.read(Half::Version)? {
            Asked::Version(version) => Ok(version),
            _ => Err(unexpected("a version")),
        }
    }

    fn read_events(&mut self) -> Result<Vec<Event>, Fault> {
        match self.read(Half::Events)? {
            Asked::Events(events) => Ok(events),
            _ => Err(unexpected("events")),
        }
    }

    fn write(&mut self, events: Vec<Event>, expected: u64) -> Result<Option<u64>, Fault> {
        self.say(&serde_json::json!({ "write": line::Write { events, expected } }))?;
        match self.hear(&mut crate::subject::Closed)? {
            Asked::Written(version) => Ok(Some(version)),
            Asked::Refused => Ok(None),
            _ => Err(unexpected("whether the batch was written")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;

    fn dialogue(lines: &str) -> String {
        let mut output = Vec::new();
        serve(&mut Reference::default(), &mut lines.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn one_line_in_one_line_out() {
        let said = dialogue(concat!(
            "{\"id\":1,\"compact\":{\"view\":[{\"id\":\"a\",\"role\":\"user\"}],\"window\":{\"turns\":1}}}\n",
            "\n",
            "{\"id\":2,\"compact\":{\"view\":[],\"window\":{\"turns\":0}}}\n",
            "{\"id\":3,\"trace\":{},\"version\":{}}\n",
            "{\"id\":4,\"sing\":{}}\n",
        ));
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], "{\"id\":1,\"unchanged\":{\"reason\":\"single-turn\"}}");
        assert!(lines[1].contains("\"class\":\"invalid-window\""), "{}", lines[1]);
        assert_eq!(lines[2], "{\"id\":3,\"version\":0}");
        assert!(lines[3].starts_with("{\"id\":4,\"unsupported\""), "{}", lines[3]);
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn a_line_without_an_id_ends_it() {
        for line in ["not json", "{}", "{\"id\":0,\"log\":{}}", "[1]"] {
            let error = serve(&mut Reference::default(), &mut line.as_bytes(), &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{line}");
        }
    }

    #[test]
    fn a_session_takes_requests_while_a_summary_is_awaited() {
        let said = dialogue(concat!(
            "{\"id\":1,\"append\":{\"event\":{\"id\":\"a\",\"role\":\"user\"}}}\n",
            "{\"id\":2,\"append\":{\"event\":{\"id\":\"b\",\"role\":\"user\"}}}\n",
            "{\"id\":3,\"compact\":{\"trigger\":\"always\",\"window\":{\"turns\":1},\"summarizer\":true}}\n",
            "{\"id\":4,\"append\":{\"event\":{\"id\":\"c\",\"role\":\"user\"}}}\n",
            "{\"id\":3,\"summary\":{\"text\":\"x\",\"tokens\":1}}\n",
            "{\"id\":5,\"version\":{}}\n",
        ));
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[2].contains("\"summarize\""), "{}", lines[2]);
        assert_eq!(lines[3], "{\"id\":4,\"appended\":{\"version\":3}}");
        assert_eq!(lines[4], "{\"id\":3,\"raced\":{}}");
        assert_eq!(lines[5], "{\"id\":5,\"version\":3}");
    }
}
