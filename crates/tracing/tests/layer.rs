//! Spans and events of `tracing` in a recording: names, nesting, futures, and spans around its
//! begin.

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use raddle_trace::events::Events;
use raddle_trace::record::kind::Kind;
use raddle_trace::session::{Options, Recording};
use tracing::Instrument;
use tracing::subscriber::with_default;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

/// One recording is under way at a time.
static RECORDING: Mutex<()> = Mutex::new(());

/// Returns the events of a call that is recorded, as texts.
fn recorded(call: impl FnOnce()) -> Vec<String> {
    let _one = RECORDING.lock().expect("no test panics while it records");
    let subscriber = tracing_subscriber::registry().with(raddle_tracing::layer());
    let recording = with_default(subscriber, || {
        let recording = Recording::begin(&Options::default()).expect("no other");
        call();
        recording
    });
    texts(&recording.events())
}

fn texts(events: &Events) -> Vec<String> {
    let tracks = events.tracks.iter().flat_map(|track| &track.events);
    let text = tracks.filter_map(|event| {
        let kind = match event.kind {
            Kind::Scope => "begin",
            Kind::EndScope => "end",
            Kind::Note => "note",
            _ => return None,
        };
        let name = &events.names[event.argument as usize];
        Some(format!("{kind} {name}"))
    });
    text.collect()
}

#[test]
fn spans_are_scopes_with_their_target() {
    let texts = recorded(|| {
        let outer = tracing::info_span!("outer", size = 3);
        let _outer = outer.enter();
        tracing::trace_span!(target: "mesh", "inner").in_scope(|| ());
    });
    let expected = [
        "begin layer::outer",
        "begin mesh::inner",
        "end mesh::inner",
        "end layer::outer",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn an_event_is_a_note_with_its_place() {
    let texts = recorded(|| tracing::warn!("{} is too large", 7));
    assert_eq!(texts.len(), 1);
    let is_here = texts[0].starts_with("note layer::event ") && texts[0].contains("layer.rs:");
    assert!(is_here, "{texts:?}");
}

/// Is ready at the second poll.
async fn twice() {
    let mut is_first = true;
    std::future::poll_fn(|_| match std::mem::take(&mut is_first) {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
    .await;
}

#[test]
fn the_span_of_a_future_has_a_scope_for_each_poll() {
    let texts = recorded(|| {
        let mut future = pin!(twice().instrument(tracing::info_span!("twice")));
        let mut context = Context::from_waker(Waker::noop());
        while future.as_mut().poll(&mut context).is_pending() {}
    });
    let polls = texts.iter().filter(|text| **text == "begin layer::twice");
    // The span is also entered to drop the future.
    assert!(polls.count() >= 2, "{texts:?}");
    assert_eq!(texts.len() % 2, 0, "{texts:?}");
}

#[test]
fn spans_that_are_open_when_a_recording_begins_or_ends_are_no_error() {
    let _one = RECORDING.lock().expect("no test panics while it records");
    let subscriber = tracing_subscriber::registry().with(raddle_tracing::layer());
    with_default(subscriber, || {
        let span = tracing::info_span!("around");
        let around = span.enter();
        let recording = Recording::begin(&Options::default()).expect("no other");
        drop(around);
        let late = span.enter();
        let events = recording.events();
        drop(recording);
        drop(late);
        assert_eq!(texts(&events), ["end layer::around", "begin layer::around"]);
    });
}

#[test]
fn a_filter_leaves_spans_out() {
    let _one = RECORDING.lock().expect("no test panics while it records");
    let layer = raddle_tracing::layer().with_filter(LevelFilter::INFO);
    with_default(tracing_subscriber::registry().with(layer), || {
        let recording = Recording::begin(&Options::default()).expect("no other");
        tracing::debug_span!("short").in_scope(|| ());
        tracing::info_span!("long").in_scope(|| ());
        let texts = texts(&recording.events());
        assert_eq!(texts, ["begin layer::long", "end layer::long"]);
    });
}
