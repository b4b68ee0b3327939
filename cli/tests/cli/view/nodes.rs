//! `raddle dirt --view`: pictures of nodes that come and go.

use std::fs;
use std::thread;

use super::*;
use crate::processes::{children, signal};

/// The boxes of the nodes: checked, and enabled.
const NODES: &str =
    "[...$('nodes').querySelectorAll('input')].map(it => [it.checked, !it.disabled])";

/// Waits for a fine picture, after which the nodes have these states.
fn expect(browser: &mut Browser, expected: &[[bool; 2]]) {
    let expected = serde_json::json!(expected).to_string();
    browser.until(&format!(
        "{IS_FINE} && JSON.stringify({NODES}) === '{expected}'"
    ));
}

#[test]
fn pictures_go_on_while_nodes_come_and_go() {
    let folder = Folder::new("view-nodes");
    let words = "dirt --scene spheres:24 --iso=-5000 --nodes 3 --renderers 1 --view --json --quiet";
    let words: Vec<&OsStr> = words.split(' ').map(OsStr::new).collect();
    let view = View::by(&words);
    let processes = children(view.child.id());
    assert_eq!(processes.len(), 3);
    let mut browser = Browser::open("nodes", &view.address, [500, 220]);
    let (on, off, gone) = ([true, true], [false, true], [false, false]);
    expect(&mut browser, &[on, on, on]);
    // Nodes render surfaces only, and begin with the value of the call.
    assert_eq!(browser.evaluate("scene.threshold"), -5000);
    let hidden = "['direct', 'maximum'].every(it => \
                  document.querySelector(`input[value=${it}]`).parentElement.hidden)";
    assert_eq!(browser.evaluate(hidden), true);
    compare(&mut browser, &folder);
    let click = |index: u32| format!("$('nodes').querySelectorAll('input')[{index}].click()");
    browser.evaluate(&click(1));
    expect(&mut browser, &[on, off, on]);
    compare(&mut browser, &folder);
    // A node ends, and one is put back.
    signal("KILL", processes[0]);
    browser.drag([100.0, 100.0], [160.0, 110.0], 4);
    browser.until("$('nodes').querySelectorAll('.ended').length === 1");
    browser.evaluate(&click(1));
    browser.until(IS_FINE);
    compare(&mut browser, &folder);
    let states = browser.evaluate(NODES);
    let count = |state: [bool; 2]| {
        let states = states.as_array().expect("a list").iter();
        states.filter(|it| **it == serde_json::json!(state)).count()
    };
    assert_eq!((count(gone), count(on)), (1, 2), "{states}");
    // Without any choice, the nodes that are left go on.
    for index in 0..3 {
        browser.evaluate(&format!(
            "(it => {{ if (it.checked && !it.disabled) it.click(); }})(\
             $('nodes').querySelectorAll('input')[{index}])"
        ));
    }
    browser.until(&format!(
        "{IS_FINE} && {NODES}.filter(it => it[0]).length === 2"
    ));
    drop(view);
    // They notice the end of the supervisor by themselves.
    for _ in 0..1_000 {
        if !processes.iter().any(|&process| runs(process)) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("nodes are left: {processes:?}");
}

/// Returns true if a process runs. One that has ended may wait for its new parent.
fn runs(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|status| !status.contains("\nState:\tZ"))
}
