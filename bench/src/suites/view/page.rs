//! The part of a page: it asks for pictures, and receives them.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use glam::{DQuat, DVec3};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use super::program::failed;
use crate::error::BenchError;

/// The width and the height of a fine picture, in pixels.
pub(super) const EDGE: u64 = 512;
/// The time between two requests of a drag: a display shows 60 pictures per second.
const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// The angle between two requests of a drag, in radians.
const ANGLE: f64 = 0.02;
/// The time after which a program that does not answer has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// The isovalue.
const ISOVALUE: f64 = 60.0;

/// A connection to a view.
pub(super) struct Page {
    socket: WebSocket<TcpStream>,
    /// The description of the content.
    scene: Value,
    eye: DVec3,
    at: DVec3,
    last_id: u64,
}

/// The pictures of a drag.
pub(super) struct Drag {
    /// The time of the drag.
    pub(super) time: Duration,
    /// The widths of the pictures that came during the drag, in pixels.
    pub(super) widths: Vec<u32>,
    /// The number of pixels of the fine picture at the end.
    pub(super) fine_pixels: u64,
}

/// The header of a picture.
struct Header {
    id: u64,
    is_coarse: bool,
    size: [u32; 2],
}

impl Page {
    /// Connects to the view with this address, and receives the description of its content.
    ///
    /// # Errors
    /// [`BenchError::Contender`], as for all methods.
    pub(super) fn open(address: &str) -> Result<Self, BenchError> {
        let parts = address.strip_prefix("http://");
        let parts = parts.and_then(|rest| rest.split_once("/?"));
        let (host, token) = parts.ok_or_else(|| failed(format!("the address {address:?}")))?;
        let socket = format!("ws://{host}/socket?{token}");
        let mut request = socket.into_client_request().map_err(failed)?;
        let origin = format!("http://{host}").parse().map_err(failed)?;
        request.headers_mut().insert("Origin", origin);
        let stream = TcpStream::connect(host).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let (mut socket, _) = tungstenite::client(request, stream).map_err(failed)?;
        let scene = socket.read().map_err(failed)?;
        let scene = scene.to_text().map_err(failed)?;
        let scene: Value = serde_json::from_str(scene).map_err(failed)?;
        let point = |name: &str| {
            let point = serde_json::from_value::<[f64; 3]>(scene[name].clone());
            point.map(DVec3::from_array).map_err(failed)
        };
        let (eye, at) = (point("eye")?, point("at")?);
        Ok(Self {
            socket,
            scene,
            eye,
            at,
            last_id: 0,
        })
    }

    /// Asks for a fine picture and waits for it. Returns the number of its pixels.
    pub(super) fn fine(&mut self, mode: &str) -> Result<u64, BenchError> {
        self.ask(mode, false)?;
        let stream = self.socket.get_ref();
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        loop {
            let header = self.receive()?.ok_or_else(|| failed("no answer"))?;
            if header.id == self.last_id && !header.is_coarse {
                return Ok(header.size.map(u64::from).iter().product());
            }
        }
    }

    /// Asks for another picture in each period, as a page does during a drag.
    pub(super) fn drag(&mut self, mode: &str, duration: Duration) -> Result<Drag, BenchError> {
        let begun = Instant::now();
        let mut next = Duration::ZERO;
        let mut widths = Vec::new();
        while begun.elapsed() < duration {
            if begun.elapsed() >= next {
                let offset = DQuat::from_rotation_z(ANGLE) * (self.eye - self.at);
                self.eye = self.at + offset;
                self.ask(mode, true)?;
                next += PERIOD;
            }
            let rest = next.saturating_sub(begun.elapsed());
            // No time at all would mean to wait without limit.
            let rest = rest.max(Duration::from_micros(100));
            let stream = self.socket.get_ref();
            stream.set_read_timeout(Some(rest)).map_err(failed)?;
            widths.extend(self.receive()?.map(|header| header.size[0]));
        }
        let time = begun.elapsed();
        let fine_pixels = self.fine(mode)?;
        Ok(Drag {
            time,
            widths,
            fine_pixels,
        })
    }

    /// Sends a request.
    fn ask(&mut self, mode: &str, is_moving: bool) -> Result<(), BenchError> {
        self.last_id += 1;
        let request = json!({
            "id": self.last_id, "want": "frame", "moving": is_moving, "size": [EDGE, EDGE],
            "samples": 1, "mode": mode, "shadows": false, "preset": null, "opacity": 1.0,
            "surfaces": [{ "iso": ISOVALUE, "colour": self.scene["colours"][0], "opacity": 1.0 }],
            "threshold": self.scene["threshold"], "fov": self.scene["fov"],
            "eye": self.eye.to_array(), "at": self.at.to_array(),
            "clip": [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]],
        });
        let message = Message::text(request.to_string());
        self.socket.send(message).map_err(failed)
    }

    /// Receives a picture; `None` if none has come in time.
    fn receive(&mut self) -> Result<Option<Header>, BenchError> {
        let message = match self.socket.read() {
            Ok(message) => message.into_data(),
            // A part of a message that has come is kept.
            Err(tungstenite::Error::Io(error))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        };
        Header::parse(&message).map(Some)
    }
}

impl Header {
    /// Parses the beginning of a message: the length of the header, and the header.
    fn parse(message: &[u8]) -> Result<Self, BenchError> {
        let header = message.split_first_chunk().and_then(|(len, rest)| {
            let len = u32::from_le_bytes(*len) as usize;
            serde_json::from_slice::<Value>(rest.get(..len)?).ok()
        });
        let header = header.ok_or_else(|| failed("a message without a header"))?;
        let size = serde_json::from_value(header["size"].clone());
        match (header["id"].as_u64(), header["coarse"].as_bool(), size) {
            (Some(id), Some(is_coarse), Ok(size)) => Ok(Self {
                id,
                is_coarse,
                size,
            }),
            _ => Err(failed(header)),
        }
    }
}

#[cfg(test)]
mod tests;
