//! The connections of a view.
//!
//! # Checks
//! 1. The server listens on 127.0.0.1 only.
//! 2. Every request needs the token of the address, 128 random bits, which other users and other
//!    pages do not have.
//! 3. `Host` must be this address: a foreign name that resolves to 127.0.0.1 is refused.
//! 4. `Origin` of a WebSocket must be this page, since a browser lets any page open one.
//!
//! The server has two resources, the page and the socket. No path leads to a file.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use super::browser::Reference;
use super::content::Content;
use super::session::Session;
use super::urgency::Urgency;
use crate::error::CliError;

/// The number of random bytes of a token.
const TOKEN_BYTES: usize = 16;
/// The maximum number of bytes of a message of a page.
const MESSAGE_BYTES_MAX: usize = 1 << 16;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(
    include_str!("page/page.js"),
    include_str!("page/camera.js"),
    include_str!("page/surfaces.js"),
    include_str!("page/nodes.js"),
    include_str!("page/controls.js"),
    include_str!("page/memory.js"),
    include_str!("page/input.js"),
    // Connects, when all else is defined.
    include_str!("page/connection.js"),
);

/// A server that has a port.
pub(super) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
}

/// The data that all connections share.
struct Shared {
    content: Arc<dyn Content>,
    urgency: Arc<Urgency>,
    token: String,
    port: u16,
    /// The file for the browser, until the page has been fetched.
    reference: Mutex<Option<Reference>>,
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: String,
}

impl Server {
    /// Listens on a port of this machine; 0 means any free one.
    ///
    /// # Errors
    /// [`CliError::Listen`].
    pub(super) fn bind(port: u16) -> Result<Self, CliError> {
        let failed = |source: std::io::Error| CliError::Listen { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            address,
            token: token().map_err(failed)?,
        })
    }

    /// Returns the address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    /// Serves pages until the process is ended. The file for the browser is removed when the page
    /// has been fetched.
    ///
    /// # Errors
    /// [`CliError::Listen`].
    pub(super) fn serve(
        self,
        content: Arc<dyn Content>,
        reference: Option<Reference>,
    ) -> Result<(), CliError> {
        let port = self.address.port();
        let shared = Arc::new(Shared {
            content,
            urgency: Arc::new(Urgency::new()),
            token: self.token,
            port,
            reference: Mutex::new(reference),
        });
        let router = Router::new()
            .route("/", get(page))
            .route("/socket", get(socket))
            .with_state(shared);
        let serve = async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            axum::serve(listener, router).await
        };
        let builder = &mut tokio::runtime::Builder::new_current_thread();
        let served = builder.enable_io().enable_time().build();
        served
            .and_then(|runtime| runtime.block_on(serve))
            .map_err(|source| CliError::Listen { port, source })
    }
}

impl Shared {
    /// Checks host and token of a request.
    fn check(&self, headers: &HeaderMap, token: &Token) -> Result<(), Refusal> {
        let host = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let port = self.port;
        let is_own =
            |host: &str| host == format!("127.0.0.1:{port}") || host == format!("localhost:{port}");
        if !host.is_some_and(is_own) {
            return Err(Refusal("another host; expected 127.0.0.1 or localhost"));
        }
        match is_equal(token.token.as_bytes(), self.token.as_bytes()) {
            true => Ok(()),
            false => Err(Refusal(
                "a wrong token; expected the address that `raddle view` has printed",
            )),
        }
    }

    /// Checks the page that opens a socket.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let origin = headers
            .get(header::ORIGIN)
            .and_then(|origin| origin.to_str().ok());
        let own = ["127.0.0.1", "localhost"].map(|host| format!("http://{host}:{}", self.port));
        match origin.is_some_and(|origin| own.iter().any(|own| own == origin)) {
            true => Ok(()),
            false => Err(Refusal("another page; expected the page of this server")),
        }
    }
}

/// The reason why a request is refused.
struct Refusal(&'static str);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (StatusCode::FORBIDDEN, format!("error: {}\n", self.0)).into_response()
    }
}

/// Answers with the page, which has its style and its script inside.
async fn page(
    State(shared): State<Arc<Shared>>,
    Query(token): Query<Token>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    shared.check(&headers, &token)?;
    if let Ok(mut reference) = shared.reference.lock() {
        *reference = None;
    }
    let page = PAGE.replace("{style}", STYLE).replace("{script}", SCRIPT);
    // The page loads nothing, and nothing else may show it in a frame.
    let port = shared.port;
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
         img-src blob: data:; connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}; \
         frame-ancestors 'none'"
    );
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_SECURITY_POLICY, &policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, Html(page)).into_response())
}

/// Opens a conversation with a page.
async fn socket(
    State(shared): State<Arc<Shared>>,
    Query(token): Query<Token>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    shared.check(&headers, &token)?;
    shared.check_origin(&headers)?;
    let upgrade = upgrade.map_err(|_| Refusal("no WebSocket; expected the page of this server"))?;
    let session = Session::new(shared.content.clone(), shared.urgency.clone());
    let upgrade = upgrade.max_message_size(MESSAGE_BYTES_MAX);
    Ok(upgrade.on_upgrade(|socket| session.run(socket)))
}

/// Returns random bits in hexadecimal.
fn token() -> std::io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    let mut len = 0;
    while len < TOKEN_BYTES {
        len += rustix::rand::getrandom(&mut bytes[len..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares all bytes, so that the time does not depend on the first difference.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && differences == 0
}
