//! The conversation with one page.
//!
//! # Protocol
//! 1. The page gets a description of the scene, as JSON.
//! 2. It sends requests, each as JSON. The newest one wins: a request that has not been begun is
//!    replaced by the next one. A coarse picture in progress is completed, so that pictures keep
//!    coming while the user drags; a fine one is given up. It also gives way to the coarse pictures
//!    of other pages ([`urgency`](super::urgency)).
//! 3. Each answer is binary: the length of a JSON header in four bytes (little endian), the header,
//!    and the picture.
//! 4. After a coarse picture without a further request, the same picture follows in full detail.
//!
//! A page that reads slowly is sent fewer pictures, because the next one is begun only when the
//! previous one has been taken.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{Message, WebSocket};
use raddle_graphics::picture::PictureFormat;
use raddle_sync::prim::{AtomicBool, Relaxed};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::content::Content;
use super::request::{Mode, Request, Want};
use super::urgency::{Urgency, Urgent};

/// The time for a coarse picture, which allows more than 15 of them per second with encoding and
/// transport.
const COARSE: Duration = Duration::from_millis(40);
/// The time without a request after which a coarse picture is refined.
const REST: Duration = Duration::from_millis(150);
/// The smallest share of the width at which a coarse picture is rendered.
const SHARE_MIN: f64 = 0.2;
/// The qualities of JPEG for coarse and fine pictures.
const QUALITY_COARSE: u8 = 80;
const QUALITY_FINE: u8 = 92;
/// The maximum number of pictures to be saved that wait.
const SAVES_MAX: usize = 8;

/// The state of a conversation.
pub(super) struct Session {
    content: Arc<dyn Content>,
    urgency: Arc<Urgency>,
    /// The coarse picture that is wanted or in progress.
    urgent: Option<Urgent>,
    /// The newest request for a frame that has not been begun.
    next: Option<Request>,
    /// Pictures to be saved, which do not replace each other.
    saves: VecDeque<Request>,
    /// The picture in progress.
    job: Option<Job>,
    /// The last request of a coarse picture, which has not been refined.
    coarse: Option<Request>,
    /// The time for a pixel of a coarse picture in a mode, estimated in seconds.
    pixel_time: Option<(Mode, f64)>,
}

/// A picture in progress.
struct Job {
    request: Request,
    size: (u32, u32),
    stop: Arc<Stop>,
    task: JoinHandle<Result<Made, String>>,
}

/// The reasons for which a picture is not completed.
#[derive(Debug, Default)]
struct Stop {
    /// The page does not want it any more.
    is_given_up: AtomicBool,
    /// It gave way to a coarse picture, and has to begin again.
    has_given_way: AtomicBool,
}

/// An encoded picture.
struct Made {
    bytes: Vec<u8>,
    /// True if nothing is visible.
    is_empty: bool,
    /// The states of the nodes that have rendered it; null without nodes.
    nodes: Value,
    /// The time for rendering and encoding.
    time: Duration,
}

/// An event of a conversation.
enum Event {
    Message(Option<Result<Message, axum::Error>>),
    Done(Result<Made, String>),
    Rest,
    /// There is no coarse picture any more.
    Calm,
}

impl Session {
    pub(super) fn new(content: Arc<dyn Content>, urgency: Arc<Urgency>) -> Self {
        Self {
            content,
            urgency,
            urgent: None,
            next: None,
            saves: VecDeque::new(),
            job: None,
            coarse: None,
            pixel_time: None,
        }
    }

    /// Answers the requests of a page until it closes the connection.
    pub(super) async fn run(mut self, mut socket: WebSocket) {
        let description = self.content.description().to_string();
        let mut sent = socket.send(Message::text(description)).await;
        while sent.is_ok() {
            self.begin();
            self.update_urgency();
            sent = match self.event(&mut socket).await {
                Event::Message(Some(Ok(Message::Text(text)))) => match Request::parse(&text) {
                    Ok(request) => match self.take(request) {
                        Some(refusal) => socket.send(refusal).await,
                        None => Ok(()),
                    },
                    Err(reason) => socket.send(answer(&failure(None, &reason), &[])).await,
                },
                // Pings are answered by the library.
                Event::Message(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => Ok(()),
                Event::Message(_) => break,
                Event::Done(outcome) => match self.done(outcome) {
                    Some(message) => socket.send(message).await,
                    None => Ok(()),
                },
                Event::Calm => Ok(()),
                Event::Rest => {
                    self.next = self.coarse.take().map(|request| Request {
                        moving: false,
                        ..request
                    });
                    Ok(())
                }
            };
        }
        self.give_up();
    }

    /// Waits for a message, for the picture in progress, or for the end of the time of rest.
    async fn event(&mut self, socket: &mut WebSocket) -> Event {
        let is_resting = self.job.is_none() && self.coarse.is_some();
        let gives_way = self.job.is_none() && (self.next.is_some() || !self.saves.is_empty());
        let job = async {
            match &mut self.job {
                // A panic of a rendering ends as an error of its picture.
                Some(job) => (&mut job.task)
                    .await
                    .unwrap_or_else(|error| Err(error.to_string())),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            message = socket.recv() => Event::Message(message),
            outcome = job => Event::Done(outcome),
            () = tokio::time::sleep(REST), if is_resting => Event::Rest,
            () = self.urgency.calm(), if gives_way => Event::Calm,
        }
    }

    /// Accepts a request. Returns an answer to the page if it is refused.
    fn take(&mut self, request: Request) -> Option<Message> {
        if request.want == Want::Png {
            if self.saves.len() == SAVES_MAX {
                let reason = format!("{SAVES_MAX} pictures are waiting to be saved already");
                return Some(answer(&failure(Some(request.id), &reason), &[]));
            }
            self.saves.push_back(request);
            return None;
        }
        let is_fine = |job: &Job| job.request.want == Want::Frame && !job.request.moving;
        if self.job.as_ref().is_some_and(is_fine) {
            self.give_up();
        }
        self.coarse = None;
        self.next = Some(request);
        None
    }

    /// Tells other pages whether this one wants a coarse picture.
    fn update_urgency(&mut self) {
        let wanted = self.next.as_ref().is_some_and(|request| request.moving);
        let is_urgent = wanted || self.job.as_ref().is_some_and(|job| job.request.moving);
        self.urgent = match self.urgent.take() {
            _ if !is_urgent => None,
            None => Some(self.urgency.begin()),
            urgent => urgent,
        };
    }

    /// Gives up the picture in progress; its end is still awaited.
    fn give_up(&mut self) {
        if let Some(job) = &self.job {
            // Relaxed: the flag publishes nothing else.
            job.stop.is_given_up.store(true, Relaxed);
        }
    }

    /// Begins the next picture, unless one is in progress.
    fn begin(&mut self) {
        if self.job.is_some() {
            return;
        }
        let is_urgent = self.urgency.is_urgent();
        let has_turn = |request: &mut Request| request.moving || !is_urgent;
        let next = self.next.take_if(has_turn);
        let save = || self.saves.pop_front_if(has_turn);
        let Some(request) = next.or_else(save) else {
            return;
        };
        let size = self.size_of(&request);
        let stop = Arc::new(Stop::default());
        let content = self.content.clone();
        let (urgency, own, flags) = (self.urgency.clone(), request.clone(), stop.clone());
        let task =
            tokio::task::spawn_blocking(move || make(&*content, &urgency, &own, size, &flags));
        self.job = Some(Job {
            request,
            size,
            stop,
            task,
        });
    }

    /// Returns the size at which a picture is rendered.
    fn size_of(&self, request: &Request) -> (u32, u32) {
        let [width, height] = request.size;
        if !request.moving {
            return (width, height);
        }
        let pixels = f64::from(width) * f64::from(height);
        let share = match self.pixel_time_of(request.mode) {
            None => 0.5,
            Some(time) => (COARSE.as_secs_f64() / (time * pixels).max(1e-9))
                .sqrt()
                .clamp(SHARE_MIN, 1.0),
        };
        let side = |side: u32| ((f64::from(side) * share).round() as u32).max(1);
        (side(width), side(height))
    }

    /// Returns the estimated time for a pixel, which another mode does not have.
    fn pixel_time_of(&self, mode: Mode) -> Option<f64> {
        let known = self.pixel_time.filter(|(known, _)| *known == mode);
        known.map(|(_, time)| time)
    }

    /// Accepts a finished picture, and returns the answer to the page; `None` if it was given up.
    fn done(&mut self, outcome: Result<Made, String>) -> Option<Message> {
        let job = self.job.take()?;
        // Relaxed: only this thread sets the flag.
        if job.stop.is_given_up.load(Relaxed) {
            return None;
        }
        // Relaxed: the end of the task comes before.
        if job.stop.has_given_way.load(Relaxed) {
            match job.request.want {
                Want::Png => self.saves.push_front(job.request),
                Want::Frame => self.next = self.next.take().or(Some(job.request)),
            }
            return None;
        }
        let made = match outcome {
            Ok(made) => made,
            Err(reason) => return Some(answer(&failure(Some(job.request.id), &reason), &[])),
        };
        let pixels = f64::from(job.size.0) * f64::from(job.size.1);
        let is_coarse = job.request.moving;
        if is_coarse {
            let time = made.time.as_secs_f64() / pixels;
            let mode = job.request.mode;
            let known = self.pixel_time_of(mode);
            self.pixel_time = Some((mode, known.map_or(time, |old| 0.5 * (old + time))));
        }
        let header = json!({
            "kind": match job.request.want { Want::Frame => "frame", Want::Png => "png" },
            "id": job.request.id,
            "size": [job.size.0, job.size.1],
            "coarse": is_coarse,
            "empty": made.is_empty,
            "nodes": made.nodes,
            "ms": made.time.as_secs_f64() * 1e3,
            "command": self.content.command(&job.request),
        });
        if is_coarse && self.next.is_none() {
            self.coarse = Some(job.request);
        }
        Some(answer(&header, &made.bytes))
    }
}

/// Renders and encodes a picture.
fn make(
    content: &dyn Content,
    urgency: &Urgency,
    request: &Request,
    size: (u32, u32),
    stop: &Stop,
) -> Result<Made, String> {
    let begun = Instant::now();
    let proceeds = || {
        let gives_way = !request.moving && urgency.is_urgent();
        if gives_way {
            // Relaxed: the flags publish nothing else.
            stop.has_given_way.store(true, Relaxed);
        }
        // Relaxed: as above.
        match gives_way || stop.is_given_up.load(Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let rendered = content.render(request, size, &proceeds)?;
    // The workers are free for other pages meanwhile.
    let bytes = match request.want {
        Want::Png => rendered.picture.encode(PictureFormat::Png),
        Want::Frame if request.moving => rendered.picture.jpeg(QUALITY_COARSE),
        Want::Frame => rendered.picture.jpeg(QUALITY_FINE),
    };
    Ok(Made {
        bytes: bytes.map_err(|error| error.to_string())?,
        is_empty: rendered.is_empty,
        nodes: rendered.nodes,
        time: begun.elapsed(),
    })
}

/// Returns the header for a failure.
fn failure(id: Option<u64>, reason: &str) -> Value {
    json!({ "kind": "error", "id": id, "message": reason })
}

/// Returns a binary message of a header and a picture.
fn answer(header: &Value, picture: &[u8]) -> Message {
    let header = header.to_string();
    let mut bytes = Vec::with_capacity(4 + header.len() + picture.len());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(picture);
    Message::binary(bytes)
}
