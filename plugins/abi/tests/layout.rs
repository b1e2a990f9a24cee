//! What a reader in C finds in memory, at the offsets of a 64-bit machine: the structs are read here as bytes, and
//! arrays are walked as a newer host lays them out.
#![cfg(target_pointer_width = "64")]
#![expect(unsafe_code, reason = "reads structs as bytes")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{ffi::c_void, ptr, slice};

use turnfold_summarizer::{
    Call, Config, Descriptor, Event, Grows, Host, Instance, LogLevel, MAGIC, Mismatch, Request, Role, Slice,
    Status, Str, Table, ToolCall, ToolResponse, read_table,
};

/// What stands at an offset.
///
/// # Safety
///
/// It is an `F`, and the struct has no padding there.
unsafe fn read_at<T, F: Copy>(table: &T, offset: usize) -> F {
    assert!(offset + size_of::<F>() <= size_of::<T>());
    // SAFETY: inside the struct.
    let place = unsafe { (&raw const *table).cast::<u8>().add(offset) };
    // SAFETY: the caller's promise.
    unsafe { place.cast::<F>().read_unaligned() }
}

fn u32_at<T>(table: &T, offset: usize) -> u32 {
    // SAFETY: any bytes are a number, and there is no padding.
    unsafe { read_at(table, offset) }
}

fn u64_at<T>(table: &T, offset: usize) -> u64 {
    // SAFETY: any bytes are a number, and there is no padding.
    unsafe { read_at(table, offset) }
}

fn text_at<T>(table: &T, offset: usize) -> &str {
    let len = usize::try_from(u64_at(table, offset + 8)).unwrap();
    // SAFETY: a pointer stands there.
    let ptr: *const u8 = unsafe { read_at(table, offset) };
    // SAFETY: the texts of these tests are borrowed for longer than the struct.
    let bytes = unsafe { slice::from_raw_parts(ptr, len) };
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn an_event_lies_where_c_looks() {
    let calls = [ToolCall::new("c1", "read", "{}"), ToolCall::new("c2", "write", "[]")];
    let responses = [ToolResponse::new("c0", "list", "a b")];
    let event = Event::new("e7", Role::TOOL, "see")
        .with_tool_calls(&calls)
        .with_tool_responses(&responses)
        .with_time_ms(-5)
        .with_tokens(9);
    assert_eq!(text_at(&event, 0), "e7");
    assert_eq!(text_at(&event, 16), "see");
    assert_eq!(u64_at(&event, 40), 2);
    assert_eq!(u64_at(&event, 56), 1);
    assert_eq!(u64_at(&event, 64), (-5_i64).cast_unsigned());
    let numbers = [72, 76, 80, 84].map(|offset| u32_at(&event, offset));
    assert_eq!(numbers, [4, 0b1100, 9, 0]);
    assert_eq!([0, 16, 32].map(|offset| text_at(&calls[1], offset)), ["c2", "write", "[]"]);
    assert_eq!([0, 16, 32].map(|offset| text_at(&responses[0], offset)), ["c0", "list", "a b"]);
}

#[test]
fn a_request_lies_where_c_looks() {
    let events = [Event::new("e1", Role::USER, "hi"); 3];
    let mut request = Request::new(&events).with_prior("before");
    request.target_tokens = 500;
    request.time_left_ms = 1 << 40;
    request.max_text_bytes = 1 << 41;
    let numbers = [0, 4, 8, 12, 16, 20].map(|offset| u32_at(&request, offset));
    assert_eq!(numbers, [72, 1, 88, 48, 48, 500]);
    assert_eq!([24, 32].map(|offset| u64_at(&request, offset)), [1 << 40, 1 << 41]);
    assert_eq!(text_at(&request, 40), "before");
    assert_eq!(u64_at(&request, 56), events.as_ptr().addr() as u64);
    assert_eq!(u64_at(&request, 64), 3);
}

unsafe extern "C" fn emit(_: *mut c_void, _: *const u8, _: usize) -> Status {
    Status::OK
}
unsafe extern "C" fn set_error(_: *mut c_void, _: *const u8, _: usize) {}
unsafe extern "C" fn poll(_: *mut c_void) -> Status {
    Status::OK
}
unsafe extern "C" fn event_json(_: *mut c_void, _: usize, _: *mut Str<'_>) -> Status {
    Status::OK
}
unsafe extern "C" fn log(_: *mut c_void, _: LogLevel, _: *const u8, _: usize) {}
unsafe extern "C-unwind" fn create(
    _: *const Host<'_>,
    _: *const Config<'_>,
    _: *const Call,
    _: *mut *mut Instance,
) -> Status {
    Status::UNSUPPORTED
}
unsafe extern "C-unwind" fn summarize(_: *mut Instance, _: *const Request<'_>, _: *const Call) -> Status {
    Status::UNSUPPORTED
}
unsafe extern "C-unwind" fn destroy(_: *mut Instance) {}

#[test]
fn tables_lie_where_c_looks() {
    let data: *mut c_void = ptr::without_provenance_mut(0x1234);
    let addresses = |table: &dyn Fn(usize) -> u64, offsets: [usize; 4]| offsets.map(table);

    let host = Host::new("h", "1.2", data, log);
    assert_eq!([0, 4].map(|offset| u32_at(&host, offset)), [56, 0]);
    assert_eq!([8, 24].map(|offset| text_at(&host, offset)), ["h", "1.2"]);
    assert_eq!([40, 48].map(|offset| u64_at(&host, offset)), [0x1234, host.log.unwrap() as usize as u64]);

    let config = Config::new("{}");
    assert_eq!([0, 4].map(|offset| u32_at(&config, offset)), [24, 0]);
    assert_eq!(text_at(&config, 8), "{}");

    let call = Call::new(data, emit, set_error, poll, event_json);
    assert_eq!([0, 4].map(|offset| u32_at(&call, offset)), [48, 0]);
    assert_eq!(u64_at(&call, 8), 0x1234);
    let functions = [
        call.emit.unwrap() as usize,
        call.set_error.unwrap() as usize,
        call.poll.unwrap() as usize,
        call.event_json.unwrap() as usize,
    ];
    let found = addresses(&|offset| u64_at(&call, offset), [16, 24, 32, 40]);
    assert_eq!(found, functions.map(|function| function as u64));

    let plugin = Descriptor::new("p", "0.9", create, summarize, destroy);
    assert_eq!([0, 4, 8, 12].map(|offset| u32_at(&plugin, offset)), [72, MAGIC, 1, 0]);
    assert_eq!([16, 32].map(|offset| text_at(&plugin, offset)), ["p", "0.9"]);
    let functions = [
        plugin.create.unwrap() as usize,
        plugin.summarize.unwrap() as usize,
        plugin.destroy.unwrap() as usize,
    ];
    let found = [48, 56, 64].map(|offset| u64_at(&plugin, offset));
    assert_eq!(found, functions.map(|function| function as u64));
}

/// A struct as a later minor may have it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Newer<T> {
    known: T,
    appended: [u64; 2],
}

const NOISE: [u64; 2] = [u64::MAX; 2];

#[test]
fn an_array_of_a_newer_host_is_stepped_by_its_stride() {
    let newer = |id| Newer { known: ToolCall::new(id, "read", "{}"), appended: NOISE };
    let calls = [newer("c1"), newer("c2"), newer("c3")];
    let responses = [Newer { known: ToolResponse::new("c1", "read", "text"), appended: NOISE }; 2];
    let event = |id| {
        let mut known = Event::new(id, Role::ASSISTANT, "text of it").with_tokens(3);
        known.tool_calls = Slice::from_raw(calls.as_ptr().cast(), calls.len());
        known.tool_responses = Slice::from_raw(responses.as_ptr().cast(), responses.len());
        Newer { known, appended: NOISE }
    };
    let events = [event("e1"), event("e2"), event("e3")];

    let stride = |size: usize| u32::try_from(size).unwrap();
    let mut known = Request::new(&[]);
    known.struct_size = stride(size_of::<Newer<Request<'_>>>());
    known.event_stride = stride(size_of::<Newer<Event<'_>>>());
    known.tool_call_stride = stride(size_of::<Newer<ToolCall<'_>>>());
    known.tool_response_stride = stride(size_of::<Newer<ToolResponse<'_>>>());
    known.events = Slice::from_raw(events.as_ptr().cast(), events.len());
    let request = Newer { known, appended: NOISE };

    // SAFETY: a whole request of a newer minor, borrowed for longer than it is read.
    let read = unsafe { read_table((&raw const request).cast::<Request<'_>>()) }.unwrap();
    let mut ids = Vec::new();
    // SAFETY: as above.
    for event in unsafe { read.events() }.unwrap() {
        // SAFETY: as above.
        ids.push(unsafe { event.id.as_str() }.unwrap());
        assert_eq!(event.tokens(), Some(3));
        // SAFETY: as above.
        for call in unsafe { read.tool_calls(&event) }.unwrap() {
            // SAFETY: as above.
            ids.push(unsafe { call.id.as_str() }.unwrap());
        }
        // SAFETY: as above.
        for response in unsafe { read.tool_responses(&event) }.unwrap() {
            // SAFETY: as above.
            ids.push(unsafe { response.text.as_str() }.unwrap());
        }
    }
    let each = |id| [id, "c1", "c2", "c3", "text", "text"];
    assert_eq!(ids, [each("e1"), each("e2"), each("e3")].concat());

    // SAFETY: nothing of the array is followed.
    let refused = unsafe { read.events.elements(stride(size_of::<Event<'_>>() - 8)) }.unwrap_err();
    assert_eq!(refused, Mismatch::Size { what: "event", found: 80, least: 88 });
}

/// Claims fewer bytes than the first minor has, and has no more either: reading on is out of bounds.
fn refuses_short<T: Table>() {
    #[repr(C, align(8))]
    struct Short([u32; 4]);
    for claimed in [0, 4, 15, 16] {
        let short = Box::new(Short([claimed, MAGIC, 1, 0]));
        // SAFETY: sixteen bytes are there, and at most that is claimed.
        let refused = unsafe { read_table((&raw const *short).cast::<T>()) }.err();
        let expected = Mismatch::Size { what: T::NAME, found: claimed, least: size_of::<T>() };
        assert_eq!(refused, Some(expected));
    }
}

#[test]
fn a_table_too_short_is_refused_unread() {
    refuses_short::<Descriptor>();
    refuses_short::<Host<'_>>();
    refuses_short::<Config<'_>>();
    refuses_short::<Request<'_>>();
    refuses_short::<Call>();
}

#[test]
fn every_struct_is_known_in_its_first_minor_only() {
    fn minors<T: Grows>() -> (&'static str, &'static [usize]) {
        (T::NAME, T::MINORS)
    }
    let golden: [(&str, &[usize]); 8] = [
        ("descriptor", &[72]),
        ("host", &[56]),
        ("configuration", &[24]),
        ("request", &[72]),
        ("call", &[48]),
        ("event", &[88]),
        ("tool call", &[48]),
        ("tool response", &[48]),
    ];
    let found = [
        minors::<Descriptor>(),
        minors::<Host<'_>>(),
        minors::<Config<'_>>(),
        minors::<Request<'_>>(),
        minors::<Call>(),
        minors::<Event<'_>>(),
        minors::<ToolCall<'_>>(),
        minors::<ToolResponse<'_>>(),
    ];
    assert_eq!(found, golden);
}
