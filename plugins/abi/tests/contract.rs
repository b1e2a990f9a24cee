//! The contract at work: plugins of many manners, called in this process as a host calls them.
#![expect(unsafe_code, reason = "is both sides of the C contract")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    error::Error,
    ffi::c_void,
    panic::{self, AssertUnwindSafe},
    ptr,
    sync::Mutex,
    thread,
};

use turnfold_summarizer::{
    Answer, Bytes, Call, Config, Descriptor, Event, Host, Instance, InvalidSlice, LogLevel, Mismatch,
    Refusal, Request, Role, Status, Str, ToolCall, ToolResponse, Violation, read_table,
};

// The host.

/// What a host notes while an instance lives.
#[derive(Default)]
struct Notes {
    emitted: Vec<u8>,
    refused: Option<Status>,
    limit: u64,
    error: Option<String>,
    /// Polls left before the host asks to stop
    patience: Option<u32>,
    whole_events: Vec<&'static str>,
    log: Vec<String>,
}

fn with<R>(notes: *mut c_void, act: impl FnOnce(&mut Notes) -> R) -> R {
    // SAFETY: every function below gets a pointer to `Mutex<Notes>` that outlives the call.
    let notes = unsafe { &*notes.cast::<Mutex<Notes>>() };
    act(&mut notes.lock().unwrap())
}

unsafe extern "C" fn emit(notes: *mut c_void, bytes: *const u8, len: usize) -> Status {
    with(notes, |notes| {
        // SAFETY: the plugin lends the bytes.
        let status = match unsafe { Bytes::from_raw(bytes, len).as_bytes() } {
            Err(_) => Status::INVALID,
            Ok(bytes) if notes.limit > 0 && (notes.emitted.len() + bytes.len()) as u64 > notes.limit => {
                Status::TOO_LARGE
            }
            Ok(bytes) => {
                notes.emitted.extend_from_slice(bytes);
                Status::OK
            }
        };
        if status.is_failure() {
            notes.refused = Some(status);
        }
        status
    })
}

unsafe extern "C" fn set_error(notes: *mut c_void, text: *const u8, len: usize) {
    // SAFETY: the plugin lends the text.
    let text = unsafe { Bytes::from_raw(text, len).as_bytes() }.unwrap_or_default();
    with(notes, |notes| notes.error = Some(String::from_utf8_lossy(text).into_owned()));
}

unsafe extern "C" fn poll(notes: *mut c_void) -> Status {
    with(notes, |notes| match &mut notes.patience {
        Some(0) => Status::CANCELLED,
        Some(left) => {
            *left -= 1;
            Status::OK
        }
        None => Status::OK,
    })
}

unsafe extern "C" fn event_json(notes: *mut c_void, index: usize, out: *mut Str<'_>) -> Status {
    match with(notes, |notes| notes.whole_events.get(index).copied()) {
        Some(json) => {
            // SAFETY: the plugin lends a place to write to.
            unsafe { out.write(Str::new(json)) };
            Status::OK
        }
        None => Status::INVALID,
    }
}

unsafe extern "C" fn log(notes: *mut c_void, level: LogLevel, text: *const u8, len: usize) {
    // SAFETY: the plugin lends the text.
    let text = unsafe { Bytes::from_raw(text, len).as_bytes() }.unwrap_or_default();
    with(notes, |notes| notes.log.push(format!("{} {}", level.0, String::from_utf8_lossy(text))));
}

/// Makes an instance, asks it once, ends it: what came of it, and the notes.
fn ask(plugin: &Descriptor, request: &Request<'_>, notes: Notes) -> (Status, Notes) {
    let notes = Mutex::new(Notes { limit: request.max_text_bytes, ..notes });
    let data: *mut c_void = (&raw const notes).cast_mut().cast();
    let host = Host::new("test", "1.0.0", data, log);
    let config = Config::new("");
    let call = Call::new(data, emit, set_error, poll, event_json);
    // SAFETY: a whole descriptor with static texts.
    let plugin = unsafe { Descriptor::read(plugin) }.unwrap();
    let mut instance = ptr::null_mut();
    // SAFETY: all that is lent outlives the instance.
    let made = unsafe {
        plugin.create.unwrap()(&raw const host, &raw const config, &raw const call, &raw mut instance)
    };
    assert_eq!(made, Status::OK);
    assert!(!instance.is_null());
    // SAFETY: the request outlives the call.
    let status = unsafe { plugin.summarize.unwrap()(instance, request, &raw const call) };
    // SAFETY: the last call of the instance.
    unsafe { plugin.destroy.unwrap()(instance) };
    let notes = notes.into_inner().unwrap();
    assert_eq!(notes.log, ["3 made", "3 ended"]);
    (notes.refused.filter(|_| status == Status::OK).unwrap_or(status), notes)
}

// The plugins: one life, many manners.

struct Life {
    host: Host<'static>,
}

unsafe extern "C-unwind" fn create(
    host: *const Host<'_>,
    config: *const Config<'_>,
    call: *const Call,
    out: *mut *mut Instance,
) -> Status {
    // SAFETY: the host lends it until the instance has ended, and the instance keeps it no longer.
    let host = unsafe { read_table(host.cast::<Host<'static>>()) }.unwrap();
    // SAFETY: lent until we return.
    let config = unsafe { read_table(config) }.unwrap();
    // SAFETY: the same.
    let call = unsafe { read_table(call) }.unwrap();
    // SAFETY: the same.
    let options = unsafe { config.options.as_str() }.unwrap();
    if !options.is_empty() {
        // SAFETY: the call is going on.
        unsafe { call.set_error(&format!("unknown options `{options}`, expected none")) };
        return Status::INVALID;
    }
    // SAFETY: the host is lent.
    unsafe { host.log(LogLevel::DEBUG, "made") };
    // SAFETY: the host lends a place to write to.
    unsafe { out.write(Box::into_raw(Box::new(Life { host })).cast()) };
    Status::OK
}

unsafe extern "C-unwind" fn destroy(instance: *mut Instance) {
    // SAFETY: made by `create`, ended once.
    let life = unsafe { Box::from_raw(instance.cast::<Life>()) };
    // SAFETY: the host is lent until we return.
    unsafe { life.host.log(LogLevel::DEBUG, "ended") };
}

/// A plugin whose summarize does this with a request and a call.
macro_rules! plugin {
    ($manner:expr) => {{
        unsafe extern "C-unwind" fn summarize(
            _: *mut Instance,
            request: *const Request<'_>,
            call: *const Call,
        ) -> Status {
            // SAFETY: lent until we return.
            let request = unsafe { read_table(request) }.unwrap();
            // SAFETY: the same.
            let call = unsafe { read_table(call) }.unwrap();
            let manner: fn(Request<'_>, &Call) -> Status = $manner;
            manner(request, &call)
        }
        Descriptor::new("org.example.manner", "1.0.0", create, summarize, destroy)
    }};
}

fn say(call: &Call, bytes: &[u8]) -> Status {
    // SAFETY: the call of these tests is going on, and the bytes are lent.
    unsafe { call.emit.unwrap()(call.user_data, bytes.as_ptr(), bytes.len()) }
}

fn say_raw(call: &Call, ptr: *const u8, len: usize) -> Status {
    // SAFETY: these pointers must not be followed, which is what the tests are for.
    unsafe { call.emit.unwrap()(call.user_data, ptr, len) }
}

/// Every field of a request, as text.
fn recite(request: &Request<'_>) -> Result<String, Box<dyn Error>> {
    let mut lines = Vec::new();
    if let Some(prior) = request.prior() {
        // SAFETY: the requests of these tests are whole and lent, here and below.
        lines.push(format!("prior `{}`", unsafe { prior.as_str() }?));
    }
    lines.push(format!("{} tokens, {} ms", request.target_tokens, request.time_left_ms));
    // SAFETY: as above.
    for event in unsafe { request.events() }? {
        // SAFETY: as above.
        let id = unsafe { event.id.as_str() }?;
        // SAFETY: as above.
        let text = unsafe { event.text.as_str() }?;
        let marks = [(event.starts_turn(), " starts"), (event.is_synthetic(), " synthetic")];
        let marks: String = marks.iter().filter(|(set, _)| *set).map(|(_, mark)| *mark).collect();
        let (role, tokens, time) = (event.role.as_str(), event.tokens(), event.time_ms());
        lines.push(format!("{id} {role}{marks} {tokens:?} {time:?} `{text}`"));
        // SAFETY: as above.
        for call in unsafe { request.tool_calls(&event) }? {
            // SAFETY: as above.
            let id = unsafe { call.id.as_str() }?;
            // SAFETY: as above.
            let name = unsafe { call.name.as_str() }?;
            // SAFETY: as above.
            lines.push(format!("call {id} {name} {}", unsafe { call.arguments.as_str() }?));
        }
        // SAFETY: as above.
        for response in unsafe { request.tool_responses(&event) }? {
            // SAFETY: as above.
            let id = unsafe { response.id.as_str() }?;
            // SAFETY: as above.
            let name = unsafe { response.name.as_str() }?;
            // SAFETY: as above.
            lines.push(format!("response {id} {name} {}", unsafe { response.text.as_str() }?));
        }
    }
    Ok(lines.join("\n"))
}

// What is said.

#[test]
fn a_plugin_sees_every_field_and_its_text_is_the_summary() {
    let plugin = plugin!(|request, call| say(call, recite(&request).unwrap().as_bytes()));
    let calls = [ToolCall::new("c1", "look", "{\"at\":\"sky\"}"), ToolCall::new("c2", "ask", "")];
    let responses = [ToolResponse::new("c1", "look", "grey")];
    let events = [
        Event::new("e1", Role::USER, "is it raining?").starting_turn().with_tokens(4).with_time_ms(-1),
        Event::new("e2", Role::ASSISTANT, "").with_tool_calls(&calls).with_tokens(0),
        Event::new("e3", Role::TOOL, "").with_tool_responses(&responses),
        Event::new("", Role(9), "größe \0 😀").synthetic(),
    ];
    let mut request = Request::new(&events).with_prior("");
    request.target_tokens = 100;
    request.time_left_ms = 30_000;
    let (status, notes) = ask(&plugin, &request, Notes::default());
    let expected = "prior ``\n100 tokens, 30000 ms\n\
                    e1 user starts Some(4) Some(-1) `is it raining?`\n\
                    e2 assistant Some(0) None ``\n\
                    call c1 look {\"at\":\"sky\"}\ncall c2 ask \n\
                    e3 tool None None ``\nresponse c1 look grey\n \
                    other synthetic None None `größe \0 😀`";
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Text(expected));

    let (_, notes) = ask(&plugin, &Request::new(&[]), Notes::default());
    assert_eq!(notes.emitted, b"0 tokens, 0 ms", "no prior, no events, null pointers");
}

#[test]
fn a_decline_writes_nothing_whatever_was_emitted() {
    let plugin = plugin!(|_, call| {
        assert_eq!(say(call, b"half a tex"), Status::OK);
        Status::DECLINED
    });
    let (status, notes) = ask(&plugin, &Request::new(&[]), Notes::default());
    assert_eq!(notes.emitted, b"half a tex");
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Declined);
}

#[test]
fn ok_without_a_text_is_blank() {
    let silent = plugin!(|_, _| Status::OK);
    let white = plugin!(|_, call| say(call, b" \r\n\t"));
    for plugin in [silent, white] {
        let (status, notes) = ask(&plugin, &Request::new(&[]), Notes::default());
        assert_eq!(Answer::of(status, &notes.emitted), Answer::Blank);
    }
}

#[test]
fn an_error_brings_its_message_and_the_last_one_wins() {
    let plugin = plugin!(|_, call| {
        assert_eq!(say(call, b"a text all the same"), Status::OK);
        // SAFETY: the call is going on.
        unsafe { call.set_error("first") };
        // SAFETY: the same.
        unsafe { call.set_error("the model is busy") };
        Status::RETRY
    });
    let (status, notes) = ask(&plugin, &Request::new(&[]), Notes::default());
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Failed(Status::RETRY));
    assert_eq!(notes.error.as_deref(), Some("the model is busy"));
}

#[test]
fn unknown_statuses_never_write() {
    let odd = plugin!(|_, call| {
        assert_eq!(say(call, b"text"), Status::OK);
        Status(77)
    });
    let bad = plugin!(|_, call| {
        assert_eq!(say(call, b"text"), Status::OK);
        Status(-999)
    });
    let answer = |plugin: &Descriptor| ask(plugin, &Request::new(&[]), Notes::default()).0;
    let expected = Answer::Violation(Violation::UnknownStatus(Status(77)));
    assert_eq!(Answer::of(answer(&odd), b"text"), expected);
    assert_eq!(Answer::of(answer(&bad), b"text"), Answer::Failed(Status(-999)));
    assert_eq!(answer(&bad).known(), Status::FAILED);
}

#[test]
fn text_is_checked_as_a_whole() {
    let split = plugin!(|_, call| {
        assert_eq!(say(call, b"gr\xc3"), Status::OK);
        say(call, b"\xb6\xc3\x9fe")
    });
    let (status, notes) = ask(&split, &Request::new(&[]), Notes::default());
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Text("größe"));

    let broken = plugin!(|_, call| say(call, b"caf\xe9"));
    let (status, notes) = ask(&broken, &Request::new(&[]), Notes::default());
    let answer = Answer::of(status, &notes.emitted);
    assert!(matches!(answer, Answer::Violation(Violation::NotUtf8(fault)) if fault.valid_up_to() == 3));
}

#[test]
fn a_refused_emit_spoils_the_call() {
    let deaf = plugin!(|_, call| {
        assert_eq!(say(call, b"0123456789"), Status::OK);
        assert_eq!(say(call, b"+"), Status::TOO_LARGE);
        Status::OK
    });
    let mut request = Request::new(&[]);
    request.max_text_bytes = 10;
    let (status, notes) = ask(&deaf, &request, Notes::default());
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Failed(Status::TOO_LARGE));
}

#[test]
fn emits_of_no_bytes_do_nothing_and_impossible_ones_are_refused() {
    let empty = plugin!(|_, call| {
        assert_eq!(say_raw(call, ptr::null(), 0), Status::OK);
        assert_eq!(say_raw(call, ptr::dangling(), 0), Status::OK);
        say(call, b"text")
    });
    let (status, notes) = ask(&empty, &Request::new(&[]), Notes::default());
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Text("text"));

    let impossible = plugin!(|_, call| {
        assert_eq!(say_raw(call, ptr::null(), 5), Status::INVALID);
        assert_eq!(say_raw(call, b"x".as_ptr(), usize::MAX), Status::INVALID);
        Status::OK
    });
    let (status, notes) = ask(&impossible, &Request::new(&[]), Notes::default());
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Failed(Status::INVALID));
}

#[test]
fn a_plugin_polls_and_stops() {
    let plugin = plugin!(|_, call| {
        for round in 0_u32.. {
            // SAFETY: the call is going on.
            if let Err(status) = unsafe { call.poll() } {
                assert_eq!(round, 3);
                return status;
            }
        }
        Status::OK
    });
    let notes = Notes { patience: Some(3), ..Notes::default() };
    let (status, notes) = ask(&plugin, &Request::new(&[]), notes);
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Failed(Status::CANCELLED));
}

#[test]
fn whole_events_are_made_on_demand() {
    let plugin = plugin!(|_, call| {
        // SAFETY: the call is going on, here and below.
        assert_eq!(unsafe { call.event_json(7) }.err(), Some(Status::INVALID));
        // SAFETY: as above.
        let json = unsafe { call.event_json(1) }.unwrap();
        // SAFETY: lent until we return.
        say(call, unsafe { json.bytes().as_bytes() }.unwrap())
    });
    let notes = Notes { whole_events: vec!["{}", "{\"metadata\":{}}"], ..Notes::default() };
    let (status, notes) = ask(&plugin, &Request::new(&[]), notes);
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Text("{\"metadata\":{}}"));
}

#[test]
fn a_call_may_be_used_by_many_threads() {
    let plugin = plugin!(|_, call| {
        thread::scope(|scope| {
            for letter in [b"aaaa", b"bbbb", b"cccc"] {
                scope.spawn(move || {
                    for _ in 0..20 {
                        assert_eq!(say(call, letter), Status::OK);
                    }
                });
            }
        });
        Status::OK
    });
    let (status, notes) = ask(&plugin, &Request::new(&[]), Notes::default());
    assert_eq!(status, Status::OK);
    assert_eq!(notes.emitted.len(), 240);
    assert!(notes.emitted.chunks(4).all(|emit| emit.iter().all(|byte| *byte == emit[0])), "an emit was torn");
}

#[test]
fn a_panic_is_caught_inside_and_told() {
    let plugin = plugin!(|_, call| {
        panic::catch_unwind(AssertUnwindSafe(|| {
            assert_eq!(say(call, b"half"), Status::OK);
            panic::resume_unwind(Box::new("gone wrong"));
        }))
        .map_or_else(
            |payload| {
                // SAFETY: the call is going on.
                unsafe { call.set_error(payload.downcast_ref::<&str>().unwrap()) };
                Status::PANIC
            },
            |()| Status::OK,
        )
    });
    let (status, notes) = ask(&plugin, &Request::new(&[]), Notes::default());
    assert_eq!(Answer::of(status, &notes.emitted), Answer::Failed(Status::PANIC));
    assert_eq!(notes.error.as_deref(), Some("gone wrong"));
}

#[test]
fn a_configuration_can_be_refused() {
    let notes = Mutex::new(Notes::default());
    let data: *mut c_void = (&raw const notes).cast_mut().cast();
    let host = Host::new("test", "1.0.0", data, log);
    let config = Config::new("{\"a\":1}");
    let call = Call::new(data, emit, set_error, poll, event_json);
    let mut instance = ptr::null_mut();
    // SAFETY: all that is lent outlives the call, which makes no instance.
    let made = unsafe { create(&raw const host, &raw const config, &raw const call, &raw mut instance) };
    assert_eq!(made, Status::INVALID);
    assert!(instance.is_null());
    let told = notes.into_inner().unwrap().error;
    assert_eq!(told.as_deref(), Some("unknown options `{\"a\":1}`, expected none"));
}

#[test]
fn a_host_without_functions_is_survived() {
    // A host that breaks the contract leaves them null.
    let mut call = Call::new(ptr::null_mut(), emit, set_error, poll, event_json);
    (call.emit, call.set_error, call.poll, call.event_json) = (None, None, None, None);
    // SAFETY: there is no function to go wrong, here and below.
    assert_eq!(unsafe { call.emit("text") }, Err(Status::UNSUPPORTED));
    // SAFETY: as above.
    assert_eq!(unsafe { call.poll() }, Err(Status::UNSUPPORTED));
    // SAFETY: as above.
    assert_eq!(unsafe { call.event_json(0) }.err(), Some(Status::UNSUPPORTED));
    // SAFETY: as above.
    unsafe { call.set_error("text") };
    let mut host = Host::new("test", "1.0.0", ptr::null_mut(), log);
    host.log = None;
    // SAFETY: as above.
    unsafe { host.log(LogLevel::INFO, "text") };
}

// Descriptors.

fn sound() -> Descriptor {
    plugin!(|_, _| Status::DECLINED)
}

/// A sound descriptor but for what is changed.
fn changed(change: impl FnOnce(&mut Descriptor)) -> Descriptor {
    let mut descriptor = sound();
    change(&mut descriptor);
    descriptor
}

fn refusal(descriptor: &Descriptor) -> Refusal {
    // SAFETY: a whole struct; the texts are static or must not be followed.
    unsafe { Descriptor::read(descriptor) }.unwrap_err()
}

#[test]
fn a_descriptor_is_copied_as_it_is() {
    let original = sound();
    // SAFETY: a whole struct with static texts.
    let read = unsafe { Descriptor::read(&raw const original) }.unwrap();
    // SAFETY: static.
    assert_eq!(unsafe { read.id.as_str() }, Ok("org.example.manner"));
    assert!(read.create.is_some() && read.summarize.is_some() && read.destroy.is_some());
}

#[test]
fn a_descriptor_of_a_newer_minor_is_taken() {
    #[repr(C)]
    struct Newer {
        known: Descriptor,
        appended: [usize; 9],
    }
    let mut newer = Newer { known: sound(), appended: [usize::MAX; 9] };
    newer.known.struct_size = u32::try_from(size_of::<Newer>()).unwrap();
    newer.known.abi_minor = 3;
    // SAFETY: a whole struct of a newer minor with static texts.
    let read = unsafe { Descriptor::read((&raw const newer).cast()) }.unwrap();
    assert_eq!(read.abi_minor, 3);
}

#[test]
fn what_is_no_descriptor_is_refused() {
    // SAFETY: null isn't followed.
    assert_eq!(unsafe { Descriptor::read(ptr::null()) }.unwrap_err(), Refusal::ByPlugin);
    let crooked = Box::new([sound(), sound()]);
    // SAFETY: a misaligned pointer isn't followed.
    let refused = unsafe { Descriptor::read(crooked.as_ptr().wrapping_byte_add(4)) };
    assert!(refused.is_err() || align_of::<Descriptor>() == 4);

    let least = size_of::<Descriptor>();
    for found in [0, 4, u32::try_from(least).unwrap() - 1, 65_537, u32::MAX] {
        let short = changed(|descriptor| descriptor.struct_size = found);
        assert_eq!(refusal(&short), Refusal::Struct(Mismatch::Size { what: "descriptor", found, least }));
    }
    assert_eq!(refusal(&changed(|descriptor| descriptor.magic = 7)), Refusal::Magic { found: 7 });
    assert_eq!(refusal(&changed(|descriptor| descriptor.abi_major = 2)), Refusal::Major { found: 2 });
    let missing = |name| Refusal::MissingFunction { name };
    assert_eq!(refusal(&changed(|descriptor| descriptor.create = None)), missing("create"));
    assert_eq!(refusal(&changed(|descriptor| descriptor.summarize = None)), missing("summarize"));
    assert_eq!(refusal(&changed(|descriptor| descriptor.destroy = None)), missing("destroy"));
}

#[test]
fn names_are_plain() {
    let long: &'static str = Box::leak("a".repeat(256).into_boxed_str());
    for id in ["", ".hidden", "-flag", "..", "a/b", "a b", "naïve", "a\u{1b}[2J", "a\0", long] {
        let named = changed(|descriptor| descriptor.id = Str::new(id));
        assert_eq!(refusal(&named), Refusal::Name { field: "id", len: id.len() }, "{id:?}");
    }
    let longest: &'static str = Box::leak("a".repeat(255).into_boxed_str());
    for id in ["a", "7", "org.example.a-b_c", longest] {
        let named = changed(|descriptor| descriptor.id = Str::new(id));
        // SAFETY: a whole struct with static texts.
        assert!(unsafe { Descriptor::read(&raw const named) }.is_ok(), "{id:?}");
    }
    for version in ["", "1 0", "1\n", "é", long] {
        let named = changed(|descriptor| descriptor.version = Str::new(version));
        assert_eq!(refusal(&named), Refusal::Name { field: "version", len: version.len() }, "{version:?}");
    }
    let latin: Vec<u8> = [b"caf".as_slice(), &[0xe9]].concat();
    let texts = [
        (Str::from_raw(ptr::null(), 5), InvalidSlice::Null { len: 5 }),
        (Str::from_raw(b"x".as_ptr(), usize::MAX), InvalidSlice::TooLong { len: usize::MAX }),
        (
            Str::from_raw(latin.as_ptr(), latin.len()),
            InvalidSlice::NotUtf8(std::str::from_utf8(&latin).unwrap_err()),
        ),
    ];
    for (text, fault) in texts {
        let named = changed(|descriptor| descriptor.id = text);
        assert_eq!(refusal(&named), Refusal::Text { field: "id", fault });
        let named = changed(|descriptor| descriptor.version = text);
        assert_eq!(refusal(&named), Refusal::Text { field: "version", fault });
    }
}

#[test]
fn refusals_say_what_was_found_and_expected() {
    let told = [
        (Refusal::ByPlugin, "the plugin returned no descriptor: it doesn't accept this host; see the log"),
        (
            Refusal::Magic { found: 7 },
            "the magic of the descriptor is `0x00000007`, expected 0x31534654: the entry function returned something \
             else",
        ),
        (
            Refusal::Major { found: 2 },
            "the plugin was built for ABI `2`, expected 1; build it for the host's version",
        ),
        (
            Refusal::MissingFunction { name: "destroy" },
            "the function `destroy` of the descriptor is null, expected a function",
        ),
        (
            Refusal::Text { field: "id", fault: InvalidSlice::Null { len: 5 } },
            "the `id` of the descriptor is no text: the pointer is null and the length `5`, expected length 0",
        ),
        (
            Refusal::Name { field: "version", len: 0 },
            "the `version` of the descriptor has `0` bytes and an unfit form, expected 1 to 255 visible ASCII \
             characters",
        ),
    ];
    for (refusal, expected) in told {
        assert_eq!(refusal.to_string(), expected);
    }
}
