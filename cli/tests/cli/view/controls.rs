//! Mouse, touch and keys on the page, and its buttons.

use super::*;

/// The description of the picture that the page asks for.
const REQUEST: &str = "JSON.stringify(request('frame', false))";
/// The distance of the camera from the point that it looks at.
const DISTANCE: &str = "norm(sub(camera.eye, camera.at))";

fn number(browser: &mut Browser, script: &str) -> f64 {
    browser.evaluate(script).as_f64().expect("a number")
}

#[test]
fn reset_restores_camera_values_and_clip_planes() {
    let view = View::with(&["--scene", "spheres:16"].map(OsStr::new));
    let mut browser = Browser::open("reset", &view.address, [600, 300]);
    browser.until(IS_FINE);
    let before = browser.evaluate(REQUEST);
    browser.drag([50.0, 50.0], [80.0, 70.0], 3);
    browser.evaluate("$('add').click(); $('shadows').click()");
    browser.evaluate(&set("#surfaces .number", "100"));
    browser.evaluate(&set("#surfaces .opacity", "0.5"));
    browser.evaluate(&set("#threshold-number", "200"));
    browser.evaluate(&set("#opacity", "2"));
    browser.evaluate(&set("#preset", "bone"));
    browser.evaluate(&set("#clip-2-high", "0.25"));
    browser.evaluate(&set("#samples", "16"));
    assert_ne!(browser.evaluate(REQUEST), before);
    browser.click("reset");
    assert_eq!(browser.evaluate(REQUEST), before);
    browser.until(IS_FINE);
}

#[test]
fn a_reload_keeps_camera_and_values() {
    let view = View::with(&["--scene", "spheres:16"].map(OsStr::new));
    let mut browser = Browser::open("reload", &view.address, [600, 300]);
    browser.until(IS_FINE);
    let at_first = browser.evaluate(REQUEST);
    browser.drag([50.0, 50.0], [80.0, 70.0], 3);
    browser.evaluate("$('add').click(); $('smooth').click()");
    browser.evaluate(&set("#surfaces .number", "100"));
    browser.evaluate(&set("#surfaces .opacity", "0.5"));
    browser.evaluate(&set("#surfaces .colour", "#123456"));
    browser.evaluate(&set("#clip-2-high", "0.25"));
    browser.evaluate("document.querySelector('input[value=direct]').click()");
    browser.evaluate(&set("#threshold-number", "200"));
    browser.evaluate(&set("#opacity", "2"));
    browser.evaluate(&set("#preset", "bone"));
    let before = browser.evaluate(REQUEST);
    browser.evaluate("window.isOld = true; location.reload()");
    browser.until(&format!("!window.isOld && {IS_FINE}"));
    assert_eq!(browser.evaluate(REQUEST), before);
    // The numbers beside the sliders are those of the values.
    let numbers = "['clip-2', 'opacity-number'].map(id => $(id).value)";
    assert_eq!(
        browser.evaluate(numbers),
        serde_json::json!(["0.00 to 3.75", "100"])
    );
    // Another view has another token, and begins with its own values.
    let other = View::with(&["--scene", "spheres:16"].map(OsStr::new));
    browser.evaluate(&format!("location.href = '{}'", other.address));
    browser.until(&format!("token === '{}' && {IS_FINE}", other.token()));
    assert_eq!(browser.evaluate(REQUEST), at_first);
}

#[test]
fn a_drag_in_the_histogram_sets_the_value_of_the_mode() {
    let view = View::with(&["--scene", "spheres:16"].map(OsStr::new));
    let mut browser = Browser::open("histogram", &view.address, [600, 300]);
    browser.until(IS_FINE);
    let script = "(({ x, y, width }) => [x, y + 10, x + 0.75 * width])($('histogram').\
                  getBoundingClientRect())";
    let place: [f64; 3] = serde_json::from_value(browser.evaluate(script)).expect("numbers");
    let share = "it => (it - scene.range[0]) / (scene.range[1] - scene.range[0])";
    let from = [place[0] + 20.0, place[1]];
    for (mode, value) in [
        ("surface", "surfaces[0].iso.value"),
        ("direct", "threshold.value"),
    ] {
        browser.evaluate(&format!(
            "document.querySelector('input[value={mode}]').click()"
        ));
        browser.drag(from, [place[2], place[1]], 4);
        browser.until(IS_FINE);
        let share = number(&mut browser, &format!("({share})({value})"));
        assert!((share - 0.75).abs() < 0.01, "{mode}: {share}");
    }
}

// Regression: values were rounded to five digits, all of which were outside of this range.
#[test]
fn values_are_rounded_within_a_narrow_range() {
    let folder = Folder::new("narrow");
    let voxels: Vec<u8> = (0..64_u8)
        .flat_map(|index| (101_321.0 + f32::from(index) * 0.125).to_le_bytes())
        .collect();
    let file = folder.file("pressure_4x4x4_f32.raw", voxels);
    let view = View::with(&[file.as_os_str()]);
    let mut browser = Browser::open("narrow", &view.address, [600, 300]);
    browser.until(IS_FINE);
    for share in [0.25, 0.75] {
        let value = format!("scene.range[0] + {share} * (scene.range[1] - scene.range[0])");
        browser.evaluate(&format!(
            "document.querySelector('#surfaces [type=range]').value = {value}; \
             document.querySelector('#surfaces [type=range]').oninput()"
        ));
        browser.until(IS_FINE);
        let distance = format!("Math.abs(surfaces[0].iso.value - ({value}))");
        assert!(number(&mut browser, &distance) < 0.001);
    }
}

#[test]
fn keys_turn_move_and_zoom() {
    let view = View::with(&["--scene", "knot:500"].map(OsStr::new));
    let mut browser = Browser::open("keys", &view.address, [600, 300]);
    browser.until(IS_FINE);
    let distance = number(&mut browser, DISTANCE);
    browser.evaluate("picture.focus()");
    let camera = browser.evaluate("camera");
    browser.key("ArrowLeft", false);
    let turned = browser.evaluate("camera");
    assert_ne!(turned["eye"], camera["eye"]);
    assert_eq!(turned["at"], camera["at"]);
    browser.key("ArrowUp", true);
    assert_ne!(browser.evaluate("camera.at"), camera["at"]);
    browser.key("+", false);
    let near = number(&mut browser, DISTANCE);
    assert!(near < 0.95 * distance, "{near} of {distance}");
    browser.key("-", false);
    browser.key("-", false);
    let far = number(&mut browser, DISTANCE);
    assert!(far > 1.05 * distance, "{far} of {distance}");
    browser.until(IS_FINE);
}

#[test]
fn one_finger_turns_and_two_zoom() {
    let view = View::with(&["--scene", "knot:500"].map(OsStr::new));
    let mut browser = Browser::open("touch", &view.address, [600, 300]);
    browser.until(IS_FINE);
    let camera = browser.evaluate("camera");
    browser.touch(&[[100.0, 100.0]], &[[160.0, 110.0]]);
    let turned = browser.evaluate("camera");
    assert_ne!(turned["eye"], camera["eye"]);
    assert_eq!(turned["at"], camera["at"]);
    let distance = number(&mut browser, DISTANCE);
    browser.touch(
        &[[100.0, 100.0], [200.0, 100.0]],
        &[[50.0, 100.0], [250.0, 100.0]],
    );
    let near = number(&mut browser, DISTANCE);
    assert!(
        (near - 0.5 * distance).abs() < 0.01 * distance,
        "{near} of {distance}"
    );
    browser.until(IS_FINE);
}

#[test]
fn every_control_has_a_name_for_screen_readers() {
    let view = View::with(&["--scene", "spheres:16"].map(OsStr::new));
    let mut browser = Browser::open("names", &view.address, [600, 300]);
    browser.until(IS_FINE);
    let nameless = browser.evaluate(
        "[...document.querySelectorAll('button, input, select, canvas')] \
         .filter(it => !it.getAttribute('aria-label') && !it.labels?.length \
             && !/[a-z]/.test(it.textContent)).map(it => it.outerHTML)",
    );
    assert_eq!(nameless, serde_json::json!([]));
}
