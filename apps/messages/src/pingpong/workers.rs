//! Sides that are workers: messages without objects.
//!
//! What a side knows lies with its worker, in a worker-private variable: a message that carried it along would carry its cache lines
//! from worker to worker too, which is not what is to be measured.

use std::sync::{LazyLock, mpsc};
use std::time::Instant;

use raddle::{Post, Private, Runtime};

use super::{Ball, Rally};

/// What came of a rally: when the ball came back, and the ball.
type Over = (Vec<Instant>, Ball);

/// What the worker of a side knows.
struct Side {
    post: Post,
    /// Of the side that serves.
    rally: Option<(Rally, mpsc::Sender<Over>)>,
}

static SIDE: LazyLock<Private<Option<Side>>> = LazyLock::new(Private::default);

/// Where a message goes, and whether the side there is the one that serves.
#[derive(Clone, Copy)]
struct Way {
    to: usize,
    from: usize,
    to_server: bool,
}

impl Way {
    fn back(self) -> Self {
        Self {
            to: self.from,
            from: self.to,
            to_server: !self.to_server,
        }
    }
}

/// Throws the ball between the first and the last worker until the rally is over.
pub(super) fn play(runtime: &Runtime, rally: Rally, ball: Ball) -> Over {
    let post = runtime.post();
    let (tell, told) = mpsc::channel();
    let to_returner = Way {
        to: post.worker_count() - 1,
        from: 0,
        to_server: false,
    };
    // The returner knows its part before the server throws; on one worker, the server's is the one that stays.
    let returner = post.clone();
    runtime.post().send(to_returner.to, move || {
        take_part(Side {
            post: returner.clone(),
            rally: None,
        });
        returner.send(to_returner.from, move || {
            take_part(Side {
                post,
                rally: Some((rally, tell)),
            });
            with_side(|side| throw(&side.post, to_returner, ball));
        });
    });
    told.recv().expect("the ball comes back")
}

fn take_part(side: Side) {
    SIDE.with(|own| *own = Some(side));
}

fn with_side(act: impl FnOnce(&mut Side)) {
    SIDE.with(|side| act(side.as_mut().expect("a side has its part before it throws")));
}

#[inline]
fn throw(post: &Post, way: Way, ball: Ball) {
    post.send(way.to, move || caught(way, ball));
}

fn caught(way: Way, ball: Ball) {
    with_side(|side| {
        let goes_on = match &mut side.rally {
            Some((rally, _)) if way.to_server => rally.goes_on(),
            _ => true,
        };
        if goes_on {
            throw(&side.post, way.back(), ball);
        } else if let Some((rally, tell)) = side.rally.take() {
            // Whoever asked for it waits; if not, nobody needs to know.
            let _unheard = tell.send((rally.times, ball));
        }
    });
}
