//! Spans of the crate [`tracing`](https://docs.rs/tracing) in recordings of Raddle.
//!
//! A program that is instrumented with `tracing` needs no second instrumentation: with this layer,
//! its spans are scopes of the recording, beside the tasks and messages of the runtime, and
//! `raddle report` lists them in the profile by function and caller.
//!
//! ```
//! use tracing_subscriber::prelude::*;
//!
//! tracing_subscriber::registry().with(raddle_tracing::layer()).init();
//!
//! let span = tracing::info_span!("build", triangles = 871_414);
//! let _building = span.enter();
//! ```
//!
//! # Recorded
//! - A span: a scope named `target::name`, from each time that it is entered to the time that it is
//!   left. So the span of a future has a scope for each poll.
//! - An event: an instant with the name that `tracing` gives it, which has its file and line.
//!
//! Fields and messages are not recorded: their values would cost an allocation each, and a name
//! that is new each time costs memory until the process ends.
//!
//! A guard from `Span::enter` that lives while its task waits for other tasks includes the tasks
//! that this worker runs meanwhile, like any caller includes those that it calls.
//!
//! # Cost
//! While nothing is recorded: a load and a branch, in addition to that of `tracing`. During a
//! recording: about 100 ns per span, most of it to look the span up. A filter leaves out spans that
//! are too short:
//!
//! ```
//! use tracing_subscriber::filter::LevelFilter;
//! use tracing_subscriber::prelude::*;
//!
//! let layer = raddle_tracing::layer().with_filter(LevelFilter::INFO);
//! tracing_subscriber::registry().with(layer).init();
//! ```

#![forbid(unsafe_code)]

use raddle_trace::record::{self, Name};
use tracing_core::span::Id;
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Returns a layer that records spans as scopes, and events as instants.
#[must_use]
pub fn layer() -> RecordingLayer {
    RecordingLayer(())
}

/// A layer that records spans as scopes, and events as instants. [`layer`] creates it.
#[derive(Clone, Copy, Debug)]
pub struct RecordingLayer(());

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for RecordingLayer {
    fn on_enter(&self, span: &Id, context: Context<'_, S>) {
        if record::is_on()
            && let Some(name) = name_of_span(span, &context)
        {
            record::begin_scope(name);
        }
    }

    fn on_exit(&self, span: &Id, context: Context<'_, S>) {
        // The end of a span that was entered before the recording began ends nothing.
        if record::is_on()
            && let Some(name) = name_of_span(span, &context)
        {
            record::end_scope(name);
        }
    }

    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        if record::is_on() {
            record::note(name_of(event.metadata()), 0);
        }
    }
}

fn name_of_span<S: Subscriber + for<'a> LookupSpan<'a>>(
    span: &Id,
    context: &Context<'_, S>,
) -> Option<Name> {
    context.metadata(span).map(name_of)
}

fn name_of(metadata: &Metadata<'static>) -> Name {
    Name::of_member(metadata.target(), metadata.name())
}
