//! A real browser without a window, driven over the DevTools protocol.
//!
//! # Source
//! <https://chromedevtools.github.io/devtools-protocol/>: Target, Runtime, Input, Emulation.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::common::Folder;

/// The names of the program, on Debian and elsewhere.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The number of attempts, 20 ms apart, after which a test gives up waiting.
const ATTEMPTS: u32 = 3000;
/// The time after which a call to the browser fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    _profile: Folder,
    socket: WebSocket<TcpStream>,
    /// The page, once there is one.
    session: Option<String>,
    call_count: u64,
}

impl Browser {
    /// Starts a browser and shows an address in a page of some size. `name` must differ between
    /// tests.
    pub(crate) fn open(name: &str, address: &str, [width, height]: [u32; 2]) -> Self {
        let profile = Folder::new(&format!("browser-{name}"));
        let start = |program: &&str| {
            Command::new(program)
                .args([
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--no-first-run",
                ])
                .args(["--disable-dev-shm-usage", "--remote-debugging-port=0"])
                .arg(format!("--user-data-dir={}", profile.as_ref().display()))
                .arg("about:blank")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .ok()
        };
        let child = PROGRAMS.iter().find_map(start).expect("a browser");
        // The browser writes its port and the path of its socket into a file.
        let file = profile.path("DevToolsActivePort");
        let mut attempts = 0;
        let (port, path) = loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.split_once('\n')
                && !path.is_empty()
            {
                break (port.to_owned(), path.trim().to_owned());
            }
            attempts += 1;
            assert!(attempts < ATTEMPTS, "the browser does not start");
            std::thread::sleep(Duration::from_millis(20));
        };
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("the browser listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let address_of_browser = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client(address_of_browser, stream).expect("a socket");
        let mut browser = Self {
            child,
            _profile: profile,
            socket,
            session: None,
            call_count: 0,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", target);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", metrics);
        browser.call("Page.navigate", json!({ "url": address }));
        browser
    }

    /// Calls a method, and returns its result.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        let reply = self.reply(method, parameters);
        assert!(reply["error"].is_null(), "{method}: {reply}");
        reply["result"].clone()
    }

    /// Calls a method, and returns its reply. Events in between are ignored.
    fn reply(&mut self, method: &str, parameters: Value) -> Value {
        self.call_count += 1;
        let id = self.call_count;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let message = Message::text(message.to_string());
        self.socket.send(message).expect("the browser is there");
        loop {
            let reply = self.socket.read().expect("the browser answers");
            let reply = reply.to_text().expect("text");
            let reply: Value = serde_json::from_str(reply).expect("JSON");
            if reply["id"] == id {
                return reply;
            }
        }
    }

    /// Evaluates JavaScript in the page, and waits for a promise.
    #[track_caller]
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let parameters =
            json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{script}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until JavaScript is true in the page.
    #[track_caller]
    pub(crate) fn until(&mut self, script: &str) {
        let mut attempts = 0;
        let parameters = json!({ "expression": script, "returnByValue": true });
        // Until the page is there, the script fails, and so does the call if a page goes away.
        let is_true = |browser: &mut Self| {
            let reply = browser.reply("Runtime.evaluate", parameters.clone());
            reply["result"]["result"]["value"] == true
        };
        while !is_true(self) {
            attempts += 1;
            assert!(attempts < ATTEMPTS, "never: {script}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Drags with the left button from one point to another, in several steps.
    pub(crate) fn drag(&mut self, from: [f64; 2], to: [f64; 2], steps: u32) {
        self.mouse("mousePressed", from, 1);
        for step in 1..=steps {
            let share = f64::from(step) / f64::from(steps);
            let at = [0, 1].map(|axis: usize| from[axis] + share * (to[axis] - from[axis]));
            self.mouse("mouseMoved", at, 1);
        }
        self.mouse("mouseReleased", to, 0);
    }

    fn mouse(&mut self, kind: &str, [x, y]: [f64; 2], buttons: u32) {
        let parameters = json!({
            "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1,
        });
        self.call("Input.dispatchMouseEvent", parameters);
    }

    /// Moves fingers from some places to others, in several steps.
    pub(crate) fn touch(&mut self, from: &[[f64; 2]], to: &[[f64; 2]]) {
        self.fingers("touchStart", from);
        for step in 1..=4 {
            let share = f64::from(step) / 4.0;
            let between = |(from, to): (&[f64; 2], &[f64; 2])| {
                [0, 1].map(|axis: usize| from[axis] + share * (to[axis] - from[axis]))
            };
            let places: Vec<_> = from.iter().zip(to).map(between).collect();
            self.fingers("touchMove", &places);
        }
        self.fingers("touchEnd", &[]);
    }

    fn fingers(&mut self, kind: &str, places: &[[f64; 2]]) {
        let points = places.iter().map(|[x, y]| json!({ "x": x, "y": y }));
        let points: Vec<_> = points.collect();
        let parameters = json!({ "type": kind, "touchPoints": points });
        self.call("Input.dispatchTouchEvent", parameters);
    }

    /// Presses and releases a key, with or without shift.
    pub(crate) fn key(&mut self, name: &str, has_shift: bool) {
        for kind in ["keyDown", "keyUp"] {
            let modifiers = if has_shift { 8 } else { 0 };
            let parameters = json!({ "type": kind, "key": name, "modifiers": modifiers });
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// Clicks on the element with an identifier.
    pub(crate) fn click(&mut self, id: &str) {
        let script = format!(
            "(() => {{ const it = document.getElementById('{id}'); it.scrollIntoView(); \
             const box = it.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let place = self.evaluate(&script);
        let at = [0, 1].map(|axis: usize| place[axis].as_f64().expect("a number"));
        self.mouse("mousePressed", at, 1);
        self.mouse("mouseReleased", at, 0);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A browser that is gone needs no end.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}
