//! Sides that are chares, in an array or in none.

use std::time::Instant;

use raddle::chare::{ArrayOptions, Failure};
use raddle::{Chares, Cx, Runtime, chare};

use super::{Ball, Rally};

/// Two sides, and who tells the world how it went.
#[derive(Debug)]
pub(super) struct Players {
    server: PlayerProxy,
    returner: PlayerProxy,
    umpire: UmpireProxy,
}

impl Players {
    /// Elements of an array.
    pub(super) fn in_array(runtime: &Runtime) -> Self {
        let last = runtime.worker_count() - 1;
        let options = ArrayOptions::new(2).placed(move |index| index * last);
        let players = runtime.array_with(options, |_| Player::default());
        Self::of(runtime, players.at(0), players.at(1))
    }

    /// Chares that are in no array.
    pub(super) fn alone(runtime: &Runtime) -> Self {
        let last = runtime.worker_count() - 1;
        let on = |worker| runtime.chare_on(worker, |_| Player::default());
        Self::of(runtime, on(0), on(last))
    }

    fn of(runtime: &Runtime, server: PlayerProxy, returner: PlayerProxy) -> Self {
        Self {
            server,
            returner,
            umpire: runtime.chare(|_| Umpire),
        }
    }

    /// Throws the ball until the rally is over; returns when it came back, and the ball.
    pub(super) fn play(&self, rally: Rally, ball: Ball) -> Result<(Vec<Instant>, Ball), Failure> {
        let sides = (self.server, self.returner);
        self.umpire.watch(sides, rally, ball).try_wait()
    }
}

impl Drop for Players {
    fn drop(&mut self) {
        self.server.leave();
        self.returner.leave();
        self.umpire.leave();
    }
}

/// One side.
#[derive(Default)]
struct Player {
    other: Option<PlayerProxy>,
    /// Of the side that serves, while the ball is in the game.
    rally: Option<(Rally, UmpireProxy)>,
}

#[chare]
impl Player {
    #[entry]
    fn meet(&mut self, other: PlayerProxy) {
        self.other = Some(other);
    }

    #[entry]
    fn serve(
        &mut self,
        cx: &mut Cx<Self>,
        other: PlayerProxy,
        rally: Rally,
        ball: Ball,
        umpire: UmpireProxy,
    ) {
        other.meet(cx.this());
        self.other = Some(other);
        self.rally = Some((rally, umpire));
        self.throw(ball);
    }

    #[entry]
    fn catch(&mut self, ball: Ball) {
        let goes_on = match &mut self.rally {
            Some((rally, _)) => rally.goes_on(),
            None => true,
        };
        if goes_on {
            self.throw(ball);
        } else if let Some((rally, umpire)) = self.rally.take() {
            umpire.over(rally.times, ball);
        }
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }

    #[inline]
    fn throw(&self, ball: Ball) {
        let other = self.other.expect("the sides meet before they play");
        other.catch(ball);
    }
}

/// Waits for the end of a rally.
struct Umpire;

#[chare]
impl Umpire {
    #[message]
    fn over(times: Vec<Instant>, ball: Ball);

    #[entry]
    async fn watch(
        &mut self,
        cx: &mut Cx<Self>,
        (server, returner): (PlayerProxy, PlayerProxy),
        rally: Rally,
        ball: Ball,
    ) -> (Vec<Instant>, Ball) {
        server.serve(returner, rally, ball, cx.this());
        cx.next(Self::over).await
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}
