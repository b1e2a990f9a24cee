//! A plan allocates nothing, however long the view and whatever the window.

#![expect(unsafe_code, reason = "counting allocations takes a global allocator of our own")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    convert::Infallible,
    hint::black_box,
};

use turnfold_core::{Event, Plan, Role, Strategy, Summary, SummaryRequest, View, Window, compact, cut, plan};

/// The system's allocator, counting what each thread asks of it.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ASKED.with(|asked| asked.set(asked.get() + 1));
}

// SAFETY: every call goes to `System` with the arguments it came with; counting touches a constant-initialised cell
// without destructor, which allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract is the callee's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's contract is the callee's.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the callee's.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often a piece of work asks the allocator for memory.
fn allocations<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = ASKED.with(Cell::get);
    let done = black_box(work());
    (ASKED.with(Cell::get) - before, done)
}

/// A thousand messages: preamble, prior summary, system messages now and then, turns of five.
fn thousand() -> Vec<Event> {
    let event = |n: u32| {
        let role = match n {
            0 | 333 | 777 => Role::System,
            1..=3 => Role::Assistant,
            _ if n.is_multiple_of(5) => Role::User,
            _ if n.is_multiple_of(2) => Role::Tool,
            _ => Role::Assistant,
        };
        let event = Event::message(format!("e{n}"), role, "some words").weighing(n % 7);
        if n == 4 { event.synthetic() } else { event }
    };
    (0..1_000).map(event).collect()
}

fn windows() -> impl Iterator<Item = Window> {
    [1, 40, 1_000, 1_000_000].into_iter().flat_map(|size| {
        [Window::last_events, Window::last_turns, Window::token_budget].map(|make| make(size).unwrap())
    })
}

#[test]
fn a_plan_allocates_nothing() {
    let view = thousand();
    let indexed = View::from_events(view.clone()).unwrap();
    let mut cuts = 0;
    for window in windows() {
        for summarizing in [false, true] {
            let (asked, planned) = allocations(|| plan(black_box(&view), window, summarizing));
            assert_eq!(asked, 0, "over the slice under {window}");
            cuts += i32::from(matches!(planned, Plan::Cut(_)));
            let (asked, _) = allocations(|| black_box(&indexed).plan(window, summarizing));
            assert_eq!(asked, 0, "over the index under {window}");
        }
    }
    assert!((8..24).contains(&cuts), "{cuts} of 24 plans cut");
}

#[test]
fn what_allocates_is_counted() {
    let view = thousand();
    let window = Window::last_turns(8).unwrap();
    let (asked, _) = allocations(|| cut::by_definition(&view, window, false));
    assert!(asked > 0, "the definition gathers the turn starts");
    let answers = |_: &SummaryRequest<'_, Event>| {
        Ok::<_, Infallible>(Some(Summary { text: "what was".into(), tokens: 2 }))
    };
    let mut strategy = Strategy::new(window).summarizing(answers);
    let (asked, _) = allocations(|| compact(&view, &mut strategy));
    assert!(asked > 0, "an outcome is lists of references");
    let (asked, _) = allocations(|| black_box(view.clone()));
    assert!(asked > 1_000, "a copy of the view asks for each event");
}
