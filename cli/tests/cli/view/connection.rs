//! The page when the view has ended, and the address that is always printed.

use super::*;

/// Returns a script that shows or hides the page, as another tab in front of it does.
fn hides(is_hidden: bool) -> String {
    format!(
        "Object.defineProperty(document, 'hidden', {{ value: {is_hidden}, configurable: true }}); \
         document.dispatchEvent(new Event('visibilitychange'))"
    )
}

#[test]
fn a_lost_connection_is_reported_and_a_page_goes_on_with_the_same_view_only() {
    let folder = Folder::new("view-lost");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let view = View::of(&file);
    let mut browser = Browser::open("lost", &view.address, [500, 200]);
    browser.until(IS_FINE);
    browser.drag([50.0, 50.0], [80.0, 70.0], 3);
    browser.until(IS_FINE);
    let before = browser.evaluate("[camera.eye, picture.toDataURL()]");
    let message = "$('message').textContent";
    // The view closes the connection of a page that sends bytes. A hidden page does not come back.
    browser.evaluate(&hides(true));
    browser.evaluate("socket.send(new Uint8Array(1))");
    browser.until("link === 'lost' && document.body.classList.contains('lost')");
    let text = browser.evaluate(message).to_string();
    assert!(text.contains("has ended or cannot be reached"), "{text}");
    let kept = browser.evaluate("[camera.eye, picture.toDataURL()]");
    assert_eq!(kept, before);
    browser.evaluate("picture.dataset.id = 0");
    browser.evaluate(&hides(false));
    browser.until(IS_FINE);
    let after = browser.evaluate("[camera.eye, picture.toDataURL()]");
    assert_eq!(after, before);
    assert_eq!(browser.evaluate(message), "");
    assert_eq!(
        browser.evaluate("document.body.classList.contains('lost')"),
        false
    );
    // The page tries again, and waits longer each time.
    let port = view.host().split(':').nth(1).expect("a port").to_owned();
    drop(view);
    browser.until("link === 'lost' && delay > 1.5 * DELAY_MIN");
    let _other = View::with(&[file.as_os_str(), "--port".as_ref(), port.as_ref()]);
    browser.until("link === 'refused'");
    let text = browser.evaluate(message).to_string();
    assert!(text.contains("Open the address"), "{text}");
    let kept = browser.evaluate("[camera.eye, picture.toDataURL()]");
    assert_eq!(kept, before);
}

#[test]
fn a_quiet_view_prints_its_address() {
    let mut child = raddle()
        .args(["view", "-q", "--scene", "spheres:16"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let output = child.stdout.take().expect("a pipe");
    let mut line = String::new();
    let read = BufReader::new(output).read_line(&mut line);
    let address = line.trim().to_owned();
    let view = View { child, address };
    read.expect("a line");
    assert_eq!(view.token().len(), 32, "{line:?}");
}
