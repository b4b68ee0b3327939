//! Several surfaces on the page.

use super::*;

/// Returns the selector of a control of a surface, counted from 1.
fn of(number: usize, name: &str) -> String {
    format!("#surfaces > :nth-child({number}) .{name}")
}

#[test]
fn several_surfaces_have_the_picture_of_their_command() {
    let folder = Folder::new("view-surfaces");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let view = View::of(&file);
    let mut browser = Browser::open("surfaces", &view.address, [600, 240]);
    browser.until(IS_FINE);
    browser.evaluate("$('add').click()");
    browser.evaluate(&set(&of(1, "number"), "60"));
    browser.evaluate(&set(&of(1, "opacity"), "0.4"));
    browser.evaluate(&set(&of(2, "number"), "155.5"));
    browser.until("command.includes(' --iso=60,155.5 --opacity 0.4,1 --eye')");
    compare(&mut browser, &folder);
    // A surface keeps its colour when it moves to another place of the list, and a new one has a
    // colour of its own.
    browser.evaluate("$('add').click()");
    browser.evaluate("document.querySelector('#surfaces .remove').click()");
    let colours = "surfaces.map(it => it.colour.value).join() === scene.colours.slice(1, 3).join()";
    browser.until(colours);
    browser.evaluate("$('add').click()");
    browser.until("surfaces[2].colour.value === scene.colours[0]");
    browser.until("/ --colour '#[0-9a-f]{6},#[0-9a-f]{6},#[0-9a-f]{6}' --eye/.test(command)");
    compare(&mut browser, &folder);
    // The last surface stays.
    browser.evaluate("for (const it of document.querySelectorAll('.remove')) it.click()");
    browser.until("surfaces.length === 1 && document.querySelector('.remove').disabled");
    browser.until(IS_FINE);
}

#[test]
fn a_page_offers_as_many_surfaces_as_a_picture_can_have() {
    let view = View::with(&["--scene", "spheres:16"].map(OsStr::new));
    let mut browser = Browser::open("many-surfaces", &view.address, [600, 240]);
    browser.until(IS_FINE);
    browser.evaluate("while (!$('add').disabled) $('add').click()");
    assert_eq!(browser.evaluate("surfaces.length"), 16);
    browser.until(IS_FINE);
    assert_eq!(browser.evaluate("$('message').textContent"), "");
}
