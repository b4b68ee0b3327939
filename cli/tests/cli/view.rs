//! `raddle view`, seen with a real browser and without one.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use crate::browser::Browser;
use crate::common::{Folder, json, raddle, run, run_badly};
use crate::volumes::ball;

mod connection;
mod controls;
mod nodes;
mod surfaces;

/// The script that is true when a fine picture of the newest request is shown.
const IS_FINE: &str =
    "picture.dataset.coarse === 'false' && Number(picture.dataset.id) === lastId && !waiting";
/// The script that saves the picture, and returns the bytes of its file.
const SAVED: &str = "new Promise(resolve => { save = (_, bytes) => resolve([...bytes]); \
    document.getElementById('save').click(); })";

/// Returns a script that sets a control, as the user does.
fn set(selector: &str, value: &str) -> String {
    format!(
        "(() => {{ const it = document.querySelector('{selector}'); it.value = '{value}'; \
         it.dispatchEvent(new Event('input')); it.dispatchEvent(new Event('change')); }})()"
    )
}

/// A view that is ended with the test.
struct View {
    child: Child,
    address: String,
}

impl View {
    fn of(file: &Path) -> Self {
        Self::with(&[file.as_os_str()])
    }

    fn with(arguments: &[&OsStr]) -> Self {
        let common = ["view", "--workers", "2", "--json"].map(OsStr::new);
        Self::by(&[&common, arguments].concat())
    }

    /// Starts a command with a page, of which the first argument is the name.
    fn by(arguments: &[&OsStr]) -> Self {
        let mut child = raddle()
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = child.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("a line");
        // Checks the schema and the keys, too.
        let value = json(&line);
        assert_eq!(
            value["command"].as_str().map(OsStr::new),
            Some(arguments[0])
        );
        let address = value["address"].as_str().expect("an address");
        Self {
            child,
            address: address.to_owned(),
        }
    }

    /// Returns host and port.
    fn host(&self) -> &str {
        let rest = self.address.trim_start_matches("http://");
        rest.split('/').next().expect("a host")
    }

    fn token(&self) -> &str {
        self.address.split("token=").nth(1).expect("a token")
    }

    /// Sends a request, and returns status and body.
    fn get(&self, path: &str, headers: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).expect("the view listens");
        let request = format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("a reply");
        let status = reply.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), reply)
    }

    /// Opens a conversation as the page does.
    fn socket(&self) -> WebSocket<TcpStream> {
        let address = format!("ws://{}/socket?token={}", self.host(), self.token());
        let mut request = address.into_client_request().expect("an address");
        let origin = format!("http://{}", self.host());
        let headers = request.headers_mut();
        headers.insert("Origin", origin.parse().expect("a header"));
        let stream = TcpStream::connect(self.host()).expect("the view listens");
        tungstenite::client(request, stream).expect("a socket").0
    }

    /// Returns the processor time that the view has used, in ticks of 10 ms.
    fn ticks(&self) -> u64 {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(path).expect("the view runs");
        let fields: Vec<&str> = text
            .rsplit(')')
            .next()
            .expect("fields")
            .split(' ')
            .collect();
        let number = |index: usize| fields[index].parse::<u64>().expect("a number");
        number(12) + number(13)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// Runs the command of a page in a folder, and returns its picture.
fn picture_of(command: &str, folder: &Folder) -> Vec<u8> {
    let program = env!("CARGO_BIN_EXE_raddle");
    let command = command.replacen("raddle", program, 1);
    let status = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder)
        .stdout(Stdio::null())
        .status()
        .expect("a shell");
    assert!(status.success(), "{command}");
    std::fs::read(folder.path("view.png")).expect("a picture")
}

/// Compares the picture of a page with that of its command: as saved exactly, as shown closely.
fn compare(browser: &mut Browser, folder: &Folder) {
    browser.until(IS_FINE);
    let command = browser.evaluate("command");
    let expected = picture_of(command.as_str().expect("a command"), folder);
    let saved: Vec<u8> = serde_json::from_value(browser.evaluate(SAVED)).expect("bytes");
    assert!(saved == expected, "{command}");
    // The canvas has the same picture, up to the losses of JPEG.
    let script = format!(
        "(async () => {{ const bytes = new Uint8Array({saved:?}); \
         const blob = new Blob([bytes], {{type: 'image/png'}}); \
         const bitmap = await createImageBitmap(blob); \
         const other = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d'); \
         other.drawImage(bitmap, 0, 0); \
         const size = [0, 0, bitmap.width, bitmap.height]; \
         const [a, b] = [painter, other].map(it => it.getImageData(...size).data); \
         let sum = 0; for (let i = 0; i < a.length; i++) sum += Math.abs(a[i] - b[i]); \
         return sum / a.length; }})()"
    );
    let difference = browser.evaluate(&script).as_f64().expect("a number");
    assert!(difference < 1.5, "{difference} levels");
}

#[test]
fn the_address_is_a_whole_line() {
    let mut child = raddle()
        .args(["view", "--no-open", "--scene", "spheres:16"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let output = child.stdout.take().expect("a pipe");
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let outcome = BufReader::new(output).read_line(&mut line);
        // The test may have given up.
        let _sent = send.send(outcome.map(|_| line));
    });
    // A reader of lines must not wait until the view ends.
    let line = receive.recv_timeout(std::time::Duration::from_secs(60));
    child.kill().expect("the view runs");
    child.wait().expect("it has ended");
    let line = line.expect("a line while the view runs").expect("text");
    assert!(line.starts_with("http://127.0.0.1:"), "{line:?}");
    assert!(line.ends_with('\n'), "{line:?}");
}

#[test]
fn a_volume_is_dragged_and_its_picture_is_that_of_the_command() {
    let folder = Folder::new("view-volume");
    let file = folder.file("a ball_24x24x24_u8.raw", ball());
    let view = View::of(&file);
    let mut browser = Browser::open("volume", &view.address, [640, 240]);
    browser.until(IS_FINE);
    let before = browser.evaluate("[...camera.eye, Number(picture.dataset.count)]");
    browser.drag([100.0, 100.0], [220.0, 130.0], 12);
    compare(&mut browser, &folder);
    let after = browser.evaluate("[...camera.eye, Number(picture.dataset.count)]");
    let at = |value: &Value, index: usize| value[index].as_f64().expect("a number");
    assert!((0..3).all(|axis| (at(&before, axis) - at(&after, axis)).abs() > 0.1));
    assert!(
        at(&after, 3) >= at(&before, 3) + 2.0,
        "coarse pictures and a fine one"
    );
    // Another surface has another picture, and so have a preset and a clip plane.
    browser.evaluate(&set("#surfaces .number", "155"));
    browser.until("request('frame', false).surfaces[0].iso === 155");
    browser.click("shadows");
    browser.click("smooth");
    browser.evaluate(&set("#samples", "4"));
    browser.until("/--iso=155 --shadows --smooth .* --samples 4 /.test(command)");
    compare(&mut browser, &folder);
    browser.evaluate("document.querySelector('input[value=direct]').click()");
    browser.evaluate(&set("#preset", "bone"));
    browser.evaluate(&set("#threshold-number", "77.5"));
    browser.evaluate(&set("#clip-1-low", "0.5"));
    browser.until("command.includes('--preset bone --threshold=77.5') && /--clip/.test(command)");
    compare(&mut browser, &folder);
}

#[test]
fn the_browser_gets_the_address_in_a_private_file() {
    let folder = Folder::new("view-open");
    // The opener of the desktop, which writes its argument to a pipe.
    let opener = folder.file("xdg-open", "#!/bin/sh\necho \"$1\" > \"$0.pipe\"\n");
    let pipe = folder.path("xdg-open.pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&opener, mode).expect("a program");
    let paths = std::env::var("PATH").expect("paths");
    // The view ends with its terminal, even if these tests run without one.
    let command = format!(
        "exec env --default-signal=HUP {} view --scene spheres:16",
        raddle().get_program().display()
    );
    // Only a view on a terminal opens a browser.
    let child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("PATH", format!("{}:{paths}", folder.path("").display()))
        .env("DISPLAY", ":99")
        .env("XDG_RUNTIME_DIR", folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("a terminal");
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // The test may have given up.
        let _sent = send.send(std::fs::read_to_string(pipe));
    });
    let argument = receive.recv_timeout(std::time::Duration::from_secs(60));
    let argument = argument.expect("a browser is opened").expect("an argument");
    assert!(!argument.contains("token"), "{argument}");
    let file = Path::new(argument.trim());
    let metadata = std::fs::metadata(file).expect("the file for the browser");
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(file).expect("text");
    let address = text.split("url=").nth(1).expect("an address");
    let address = address.split('"').next().expect("an address").to_owned();
    let view = View { child, address };
    let path = format!("/?token={}", view.token());
    let host = format!("Host: {}\r\n", view.host());
    assert_eq!(view.get(&path, &host).0, 200);
    assert!(!file.exists());
}

#[test]
fn generated_scenes_have_the_page_and_the_command() {
    let folder = Folder::new("view-scene");
    for (name, scene, details) in [
        ("scene-volume", "spheres:20", "20 × 20 × 20 i16"),
        ("scene-mesh", "knot:500", "500 triangles"),
    ] {
        let view = View::with(&["--scene", scene].map(OsStr::new));
        let mut browser = Browser::open(name, &view.address, [500, 200]);
        browser.until(IS_FINE);
        assert_eq!(browser.evaluate("$('details').textContent"), details);
        compare(&mut browser, &folder);
    }
}

#[test]
fn a_mesh_has_the_same_page() {
    let folder = Folder::new("view-mesh");
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n";
    let file = folder.file("corner.obj", text);
    let view = View::of(&file);
    let mut browser = Browser::open("mesh", &view.address, [500, 200]);
    browser.until(IS_FINE);
    assert_eq!(browser.evaluate("$('details').textContent"), "4 triangles");
    browser.drag([50.0, 50.0], [80.0, 70.0], 3);
    compare(&mut browser, &folder);
}

#[test]
fn two_browsers_see_their_own_pictures_and_a_view_at_rest_needs_no_time() {
    let folder = Folder::new("view-two");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let view = View::of(&file);
    let mut first = Browser::open("first", &view.address, [400, 200]);
    let mut second = Browser::open("second", &view.address, [480, 220]);
    first.until(IS_FINE);
    second.until(IS_FINE);
    first.drag([50.0, 50.0], [90.0, 70.0], 5);
    second.drag([50.0, 50.0], [20.0, 70.0], 5);
    first.until(IS_FINE);
    second.until(IS_FINE);
    let eyes = [first.evaluate("camera.eye"), second.evaluate("camera.eye")];
    assert_ne!(eyes[0], eyes[1]);
    drop(second);
    // The threads for pictures and the workers go to sleep first.
    let mut quiet = 0;
    for _ in 0..100 {
        let before = view.ticks();
        std::thread::sleep(std::time::Duration::from_millis(100));
        quiet = if view.ticks() == before { quiet + 1 } else { 0 };
        if quiet == 10 {
            return;
        }
    }
    panic!("the view is not left without work for a second");
}

#[test]
fn only_the_page_with_its_token_gets_anything() {
    let folder = Folder::new("view-refused");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let view = View::of(&file);
    let (host, token) = (view.host().to_owned(), view.token().to_owned());
    assert_eq!(token.len(), 32);
    let own = format!("Host: {host}\r\n");
    let page = format!("/?token={token}");
    let (status, reply) = view.get(&page, &own);
    assert_eq!(status, 200);
    assert!(
        reply
            .to_lowercase()
            .contains("content-security-policy: default-src 'none'")
    );
    // Without a token, with a wrong one, under another name.
    for (path, headers) in [
        ("/", own.as_str()),
        ("/?token=", &own),
        ("/?token=00000000000000000000000000000000", &own),
        (&page, "Host: evil.example\r\n"),
        (
            &page,
            &format!(
                "Host: evil.example:{}\r\n",
                host.split(':').nth(1).expect("a port")
            ),
        ),
    ] {
        let (status, reply) = view.get(path, headers);
        assert_eq!(status, 403, "{path} {headers}");
        assert!(
            reply.contains("; expected ") && !reply.contains("<canvas"),
            "{reply}"
        );
    }
    // No path leads to a file.
    for path in [
        "/ball_24x24x24_u8.raw",
        "/etc/passwd",
        "/../../etc/passwd",
        "//etc/passwd",
    ] {
        let (status, _) = view.get(&format!("{path}?token={token}"), &own);
        assert_eq!(status, 404, "{path}");
    }
    // Another page must not open the socket, and a page without origin is no page.
    let socket = format!("/socket?token={token}");
    let upgrade = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    for origin in ["", "Origin: http://evil.example\r\n", "Origin: null\r\n"] {
        let headers = format!("{own}{upgrade}{origin}");
        let (status, reply) = view.get(&socket, &headers);
        assert_eq!(status, 403, "{origin} {reply}");
    }
}

/// Returns a request for a fine picture of a surface, as the page sends it.
fn request_for(scene: &Value) -> Value {
    serde_json::json!({
        "id": 1, "want": "frame", "moving": false, "size": [64, 48],
        "samples": 1, "mode": "surface",
        "surfaces": [{ "iso": 155.0, "colour": "#ccc2b3", "opacity": 1.0 }],
        "shadows": false, "preset": null, "threshold": 100.0, "opacity": 1.0,
        "eye": scene["eye"], "at": scene["at"], "fov": 45.0,
        "clip": [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]],
    })
}

#[test]
fn bad_messages_are_answered_and_the_conversation_goes_on() {
    let folder = Folder::new("view-messages");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let view = View::of(&file);
    let mut socket = view.socket();
    let scene = socket.read().expect("a description");
    let scene: Value = serde_json::from_str(scene.to_text().expect("text")).expect("JSON");
    assert_eq!(
        (&scene["content"], &scene["details"]),
        (
            &serde_json::json!("volume"),
            &serde_json::json!("24 × 24 × 24 u8")
        )
    );
    let request = request_for(&scene);
    let answer = |socket: &mut WebSocket<TcpStream>, change: &dyn Fn(&mut Value)| {
        let mut request = request.clone();
        change(&mut request);
        socket
            .send(Message::text(request.to_string()))
            .expect("sent");
        let bytes = socket.read().expect("an answer").into_data();
        let len = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + len]).expect("JSON");
        (header, bytes[4 + len..].to_vec())
    };
    let error = |change: &dyn Fn(&mut Value), socket: &mut WebSocket<TcpStream>| {
        let (header, picture) = answer(socket, change);
        assert!(header["kind"] == "error" && picture.is_empty(), "{header}");
    };
    error(&|it| it["size"] = serde_json::json!([0, 5]), &mut socket);
    error(
        &|it| it["file"] = serde_json::json!("/etc/passwd"),
        &mut socket,
    );
    error(&|it| *it = serde_json::json!("text"), &mut socket);
    error(&|it| it["at"] = it["eye"].clone(), &mut socket);
    error(&|it| it["mode"] = serde_json::json!("mesh"), &mut socket);
    error(
        &|it| {
            it["mode"] = serde_json::json!("direct");
            it["preset"] = serde_json::json!("none such");
        },
        &mut socket,
    );
    let (header, picture) = answer(&mut socket, &|_| ());
    assert_eq!(
        (&header["kind"], &header["size"]),
        (&serde_json::json!("frame"), &serde_json::json!([64, 48]))
    );
    assert_eq!(picture[..2], [0xFF, 0xD8], "JPEG");
    // Of many requests at once, the last one is answered.
    for id in 2..=40 {
        let mut request = request.clone();
        request["id"] = serde_json::json!(id);
        socket
            .send(Message::text(request.to_string()))
            .expect("sent");
    }
    let mut answered = 0;
    loop {
        let bytes = socket.read().expect("an answer").into_data();
        answered += 1;
        if bytes.windows(7).any(|window| window == b"\"id\":40") {
            break;
        }
    }
    assert!(answered <= 39);
}

#[test]
fn a_page_that_is_closed_during_its_picture_leaves_the_view_to_others() {
    let folder = Folder::new("view-closed");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let view = View::of(&file);
    let mut others = view.socket();
    let scene = others.read().expect("a description");
    let scene: Value = serde_json::from_str(scene.to_text().expect("text")).expect("JSON");
    let request = |size: u32| {
        serde_json::json!({
            "id": 1, "want": "frame", "moving": false, "size": [size, size],
            "samples": 1, "mode": "direct",
            "surfaces": [{ "iso": 155.0, "colour": "#ccc2b3", "opacity": 1.0 }],
            "shadows": false, "preset": null, "threshold": 1.0, "opacity": 0.01,
            "eye": scene["eye"], "at": scene["at"], "fov": 20.0,
            "clip": [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]],
        })
    };
    // A fine picture, one to be saved, and a coarse one, for which fine ones of others would wait.
    for (want, moving) in [("frame", false), ("png", false), ("frame", true)] {
        let mut large = request(4096);
        large["want"] = serde_json::json!(want);
        large["moving"] = serde_json::json!(moving);
        for _ in 0..2 {
            let mut closed = view.socket();
            closed.send(Message::text(large.to_string())).expect("sent");
            drop(closed);
        }
    }
    let small = Message::text(request(16).to_string());
    others.send(small).expect("sent");
    let bytes = others.read().expect("an answer").into_data();
    assert!(bytes.windows(7).any(|window| window == b"\"frame\""));
}

#[test]
fn a_port_in_use_and_a_file_without_content_are_errors() {
    let folder = Folder::new("view-errors");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let view = View::of(&file);
    let port = view.host().split(':').nth(1).expect("a port").to_owned();
    let line = run_badly(["view", &file.display().to_string(), "--port", &port]);
    assert!(line.contains(&format!("port {port}: ")), "{line}");
    let text = folder.file("notes.txt", "no volume");
    let line = run_badly(["view", &text.display().to_string()]);
    assert!(
        line.contains("notes.txt: neither a mesh nor a volume; expected"),
        "{line}"
    );
    // There is no end at which statistics could be printed.
    let call = ["view", &file.display().to_string(), "--stats"];
    assert_eq!(run(call).code, Some(2));
}

// Regression: a page waited for the picture of another one, which can take a minute.
#[test]
fn a_coarse_picture_comes_before_the_fine_one_of_another_page() {
    let folder = Folder::new("view-urgent");
    let view = View::of(&folder.file("ball_24x24x24_u8.raw", ball()));
    let [mut slow, mut fast] = [view.socket(), view.socket()];
    let description = slow.read().expect("a description").into_text();
    let scene: Value = serde_json::from_str(&description.expect("text")).expect("JSON");
    fast.read().expect("a description");
    let mut request = request_for(&scene);
    request["mode"] = serde_json::json!("direct");
    request["preset"] = serde_json::json!("x-ray");
    for want in ["frame", "png"] {
        request["want"] = serde_json::json!(want);
        request["samples"] = serde_json::json!(16);
        request["size"] = serde_json::json!([4096, 4096]);
        slow.send(Message::text(request.to_string())).expect("sent");
        // Long enough for the picture to begin, and much shorter than it takes.
        std::thread::sleep(Duration::from_millis(300));
        let coarse = serde_json::json!({ "moving": true, "size": [64, 48], "want": "frame" });
        let mut request = request.clone();
        for (key, value) in coarse.as_object().expect("an object") {
            request[key] = value.clone();
        }
        fast.send(Message::text(request.to_string())).expect("sent");
        let bytes = fast.read().expect("an answer").into_data();
        assert!(bytes.windows(13).any(|part| part == b"\"coarse\":true"));
    }
    slow.get_mut().set_nonblocking(true).expect("a socket");
    let nothing = slow.read().expect_err("no picture yet");
    assert!(matches!(
        nothing,
        tungstenite::Error::Io(error) if error.kind() == std::io::ErrorKind::WouldBlock
    ));
}
