//! A program as a subject: protocol 1 over its stdin and stdout, with a deadline for every answer.
//!
//! After a fault the program is killed with its process group and a new one is started for the next question; it is
//! never used again, so a late answer can't be taken for another one's.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io::{self, Read, Write},
    os::{fd::AsFd, unix::process::CommandExt},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity},
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use crate::{
    line::{self, Half, Incoming, Outgoing},
    protocol::{Answer, Greeting, Hello, PROTOCOL, Request, Versions},
    subject::{Fault, FaultKind, Meanwhile, Subject, Suite},
};

/// A longer line is not read: an answer repeats a view that the suite made, and those are small.
const LINE_AT_MOST: usize = 64 << 20;

/// How much of stderr is kept, from its end.
const STDERR_AT_MOST: usize = 4096;

/// How a program is started and how long it is waited for.
#[derive(Clone, Debug)]
pub struct Start {
    /// The program and its arguments
    pub command: Vec<OsString>,
    /// How long one answer may take
    pub deadline: Duration,
    /// How often it is started again
    pub restarts: u32,
}

impl Start {
    /// A program with a deadline of ten seconds and twenty restarts.
    pub fn new(command: Vec<OsString>) -> Self {
        Self { command, deadline: Duration::from_secs(10), restarts: 20 }
    }
}

/// A program that answers protocol 1.
#[derive(Debug)]
pub struct Program {
    start: Start,
    running: Option<Running>,
    starts: u32,
    hello: Option<Hello>,
    _core: Option<OneCore>,
}

/// This thread and the programs it starts on one core. They take turns and never work at once, and waking the other
/// on another core takes several times as long as a whole case.
#[derive(Debug)]
struct OneCore {
    before: CpuSet,
}

impl OneCore {
    /// On a machine that doesn't allow it, nothing changes but the time.
    fn take() -> Option<Self> {
        let before = sched_getaffinity(Pid::from_raw(0)).ok()?;
        let mut one = CpuSet::new();
        one.set(sched_getcpu().ok()?).ok()?;
        sched_setaffinity(Pid::from_raw(0), &one).ok()?;
        Some(Self { before })
    }
}

impl Drop for OneCore {
    fn drop(&mut self) {
        let _ = sched_setaffinity(Pid::from_raw(0), &self.before); // it was allowed a moment ago
    }
}

impl Program {
    /// A program that is started when it is first asked.
    pub fn new(start: Start) -> Self {
        Self { start, running: None, starts: 0, hello: None, _core: OneCore::take() }
    }

    fn running(&mut self) -> Result<&mut Running, Fault> {
        if self.running.is_none() {
            if self.starts > self.start.restarts {
                return Err(Fault {
                    kind: FaultKind::Start,
                    message: format!("it was started {} times and failed each time; given up", self.starts),
                });
            }
            self.starts += 1;
            let mut running = Running::start(&self.start)?;
            let hello = match running.hello() {
                Ok(hello) => hello,
                Err(fault) => return Err(running.end(fault)),
            };
            self.hello.get_or_insert(hello);
            self.running = Some(running);
        }
        self.running
            .as_mut()
            .ok_or_else(|| Fault { kind: FaultKind::Start, message: "it does not run".into() })
    }
}

impl Subject for Program {
    fn hello(&mut self) -> Result<Hello, Fault> {
        self.running()?;
        self.hello.clone().ok_or_else(|| Fault::protocol("it did not introduce itself"))
    }

    fn ask(&mut self, request: &Request, suite: &mut dyn Suite) -> Result<Answer, Fault> {
        match self.running()?.converse(request, suite) {
            Ok(answer) => Ok(answer),
            Err(fault) => Err(match self.running.take() {
                Some(running) => running.end(fault),
                None => fault,
            }),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.kill();
        }
    }
}

#[derive(Debug)]
struct Running {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    chunk: Box<[u8]>,
    heard: Vec<u8>,
    searched: usize,
    line: Vec<u8>,
    next_id: u64,
    deadline: Duration,
}

impl Running {
    fn start(start: &Start) -> Result<Self, Fault> {
        let cannot = |why: String| Fault { kind: FaultKind::Start, message: why };
        let (program, arguments) =
            start.command.split_first().ok_or_else(|| cannot("no program is named".into()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| cannot(format!("`{}` can't be started: {error}", program.to_string_lossy())))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(cannot("it has no pipes".into()));
        };
        fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|error| cannot(error.to_string()))?;
        Ok(Self {
            child,
            stdin,
            stdout,
            stderr: keep_tail(stderr),
            chunk: vec![0; 1 << 16].into(),
            heard: Vec::new(),
            searched: 0,
            line: Vec::new(),
            next_id: 1,
            deadline: start.deadline,
        })
    }

    fn hello(&mut self) -> Result<Hello, Fault> {
        let greeting = Greeting {
            protocol: Versions { min: PROTOCOL, max: PROTOCOL },
            suite: env!("CARGO_PKG_VERSION").into(),
        };
        match self.ask(&Request::Hello(greeting))? {
            Answer::Hello(hello) => Ok(hello),
            Answer::Unsupported { why } => Err(Fault::protocol(format!("it does not say hello: {why}"))),
            _ => Err(Fault::protocol("it answered `hello` with something else")),
        }
    }

    fn say(&mut self, id: u64, said: &impl serde::Serialize, until: Instant) -> Result<(), Fault> {
        let mut line = std::mem::take(&mut self.line);
        line::write(id, said, &mut line)?;
        let done = self.write_all(&line, until);
        self.line = line;
        done
    }

    /// Writes without waiting for a program that itself waits to be read.
    fn write_all(&mut self, mut bytes: &[u8], until: Instant) -> Result<(), Fault> {
        while !bytes.is_empty() {
            match self.stdin.write(bytes) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let readable = self.wait(true, until)?;
                    if readable {
                        self.hear_more()?;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(crash(format!("its stdin is closed: {error}"))),
            }
        }
        Ok(())
    }

    /// Waits until stdout can be read, or stdin written where that is asked; whether stdout can.
    fn wait(&self, or_write: bool, until: Instant) -> Result<bool, Fault> {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left.as_millis().min(60_000)).unwrap_or(PollTimeout::ZERO);
        let mut fds = [
            PollFd::new(self.stdout.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.stdin.as_fd(), if or_write { PollFlags::POLLOUT } else { PollFlags::empty() }),
        ];
        let ready = match poll(&mut fds, timeout) {
            Ok(ready) => ready,
            Err(nix::errno::Errno::EINTR) => return Ok(false),
            Err(error) => return Err(crash(error.to_string())),
        };
        if ready == 0 && until <= Instant::now() {
            return Err(Fault {
                kind: FaultKind::Timeout,
                message: format!("no answer within {} ms", self.deadline.as_millis()),
            });
        }
        let [stdout, _] = &fds;
        Ok(stdout.revents().is_some_and(|events| events.intersects(PollFlags::POLLIN | PollFlags::POLLHUP)))
    }

    fn hear_more(&mut self) -> Result<(), Fault> {
        match self.stdout.read(&mut self.chunk) {
            Ok(0) => Err(crash("it closed its stdout".into())),
            Ok(count) => {
                self.heard.extend_from_slice(self.chunk.get(..count).unwrap_or_default());
                if self.heard.len() > LINE_AT_MOST {
                    return Err(Fault::protocol(format!(
                        "a line on stdout is longer than {LINE_AT_MOST} bytes"
                    )));
                }
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(crash(error.to_string())),
        }
    }

    fn hear(&mut self, until: Instant) -> Result<(u64, Incoming), Fault> {
        loop {
            let fresh = self.heard.get(self.searched..).unwrap_or_default();
            if let Some(length) = fresh.iter().position(|&byte| byte == b'\n') {
                let end = self.searched + length;
                let line = self.heard.get(..end).unwrap_or_default().trim_ascii();
                let read = (!line.is_empty()).then(|| line::read(line));
                self.heard.drain(..=end);
                self.searched = 0;
                match read {
                    Some(read) => return read,
                    None => continue,
                }
            }
            self.searched = self.heard.len();
            if self.wait(false, until)? {
                self.hear_more()?;
            }
        }
    }

    /// The next line of a question; lines of questions given up long ago can't be, the program is new since.
    fn hear_of(&mut self, id: u64, until: Instant) -> Result<Incoming, Fault> {
        let (found, incoming) = self.hear(until)?;
        if found == id {
            Ok(incoming)
        } else {
            Err(Fault::protocol(format!("an answer to {found}, expected one to {id}")))
        }
    }

    fn fresh_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    fn converse(&mut self, request: &Request, suite: &mut dyn Suite) -> Result<Answer, Fault> {
        let id = self.fresh_id();
        let mut until = Instant::now() + self.deadline;
        self.say(id, request, until)?;
        loop {
            let said = match self.hear_of(id, until)? {
                Incoming::Answer(answer) => return Ok(answer),
                Incoming::Summarize(call) => {
                    let said = suite.summarize(call, self)?;
                    until = Instant::now() + self.deadline;
                    self.say(id, &Outgoing::Summary(&said), until)
                }
                Incoming::Read(Half::Version) => {
                    self.say(id, &Outgoing::Version(suite.read_version()?), until)
                }
                Incoming::Read(Half::Events) => self.say(id, &Outgoing::Events(&suite.read_events()?), until),
                Incoming::Write(write) => match suite.write(write.events, write.expected)? {
                    Some(version) => self.say(id, &Outgoing::Written { version }, until),
                    None => self.say(id, &Outgoing::Refused { why: "stale" }, until),
                },
            };
            said?;
        }
    }

    /// Ends it after a fault, and adds to the fault what only now can be seen.
    fn end(mut self, mut fault: Fault) -> Fault {
        let status = match fault.kind {
            FaultKind::Crash => self.wait_a_little(),
            FaultKind::Timeout | FaultKind::Protocol | FaultKind::Start | FaultKind::Refused => None,
        };
        self.kill();
        if let Some(status) = status {
            fault.message = format!("{}: {}", fault.message, ended(status));
        }
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let tail: Vec<u8> = tail.iter().copied().collect();
        let tail = String::from_utf8_lossy(&tail);
        if !tail.trim().is_empty() {
            fault.message = format!("{}; its stderr ends with: {}", fault.message, tail.trim());
        }
        fault
    }

    /// A program that closed its pipes is about to end; its status says why.
    fn wait_a_little(&mut self) -> Option<ExitStatus> {
        let until = Instant::now() + Duration::from_millis(500);
        while Instant::now() < until {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    fn kill(&mut self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL); // it may have ended by itself
        }
        let _ = self.child.wait();
    }
}

/// The session, asked while its pass waits for a summary.
impl Meanwhile for Running {
    fn ask(&mut self, request: &Request) -> Result<Answer, Fault> {
        let id = self.fresh_id();
        let until = Instant::now() + self.deadline;
        self.say(id, request, until)?;
        match self.hear_of(id, until)? {
            Incoming::Answer(answer) => Ok(answer),
            Incoming::Summarize(_) | Incoming::Read(_) | Incoming::Write(_) => {
                Err(Fault::protocol("it asked the suite for something in a request that has nothing to ask"))
            }
        }
    }
}

fn crash(message: String) -> Fault {
    Fault { kind: FaultKind::Crash, message }
}

fn ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it ended by signal {signal}"),
        (None, None) => "it ended".into(),
    }
}

/// Reads stderr to its end, so that the program never waits for it, and keeps the last of it.
fn keep_tail(mut stderr: impl Read + Send + 'static) -> Arc<Mutex<VecDeque<u8>>> {
    let tail = Arc::new(Mutex::new(VecDeque::new()));
    let kept = Arc::clone(&tail);
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = stderr.read(&mut chunk) {
            let mut tail = kept.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend(chunk.get(..count).unwrap_or_default());
            let excess = tail.len().saturating_sub(STDERR_AT_MOST);
            tail.drain(..excess);
        }
    });
    tail
}
