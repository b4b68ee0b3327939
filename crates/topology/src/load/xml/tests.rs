//! A small valid machine, and the contradictions that single changes of it cause.

use super::*;

/// Two cores of one CPU each, and two memories that are local to both.
const MACHINE: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8"?>
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x7" allowed_cpuset="0x3""#,
    r#" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
    <info name="Backend" value="&lt;none&gt;"/>
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3""#,
    r#" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="4096"/>
    <object type="NUMANode" os_index="1" cpuset="0x3" complete_cpuset="0x3""#,
    r#" nodeset="0x2" complete_nodeset="0x2" gp_index="3"/>
    <object type="L2Cache" cpuset="0x3" complete_cpuset="0x3" nodeset="0x3""#,
    r#" complete_nodeset="0x3" gp_index="4" cache_size="1024" depth="2" cache_type="0">
      <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1""#,
    r#" nodeset="0x3" complete_nodeset="0x3" gp_index="5">
        <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1""#,
    r#" nodeset="0x3" complete_nodeset="0x3" gp_index="6"/>
      </object>
      <object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2""#,
    r#" nodeset="0x3" complete_nodeset="0x3" gp_index="7">
        <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2""#,
    r#" nodeset="0x3" complete_nodeset="0x3" gp_index="8"/>
      </object>
    </object>
    <object type="Misc" gp_index="9"/>
  </object>
  <distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
    <indexes length="4">0 1 </indexes>
    <u64values length="12">10 20 20 10 </u64values>
  </distances2>
</topology>
"#,
);

/// The replaced text, its replacement, the line of the resulting problem, and a part of its
/// message.
const CONTRADICTIONS: &[(&str, &str, u32, &str)] = &[
    (
        "<topology version=\"2.0\">",
        "<topology version=\"0.9\">",
        2,
        "version \"0.9\"",
    ),
    ("version=\"2.0\"", "version=\"3.0\"", 2, "version \"3.0\""),
    ("version=\"2.0\"", "version=\"2.o0\"", 2, "version \"2.o0\""),
    (
        "type=\"Machine\"",
        "type=\"Core\"",
        3,
        "outermost object of type \"Core\"",
    ),
    ("type=\"NUMANode\" os", "os", 5, "an object without a type"),
    (
        "type=\"L2Cache\"",
        "type=\"Engine\"",
        7,
        "unknown type \"Engine\"",
    ),
    (
        "type=\"L2Cache\"",
        "type=\"Machine\"",
        7,
        "a machine inside a machine",
    ),
    (
        "type=\"L2Cache\"",
        "type=\"L3Cache\"",
        7,
        "a L3Cache of depth \"2\"",
    ),
    (
        "cache_type=\"0\"",
        "cache_type=\"2\"",
        7,
        "cache_type \"2\"",
    ),
    (" gp_index=\"5\"", "", 8, "\"\" as the identity"),
    (
        "gp_index=\"5\"",
        "gp_index=\"4\"",
        8,
        "the identity 4 a second time",
    ),
    (
        "gp_index=\"5\"",
        "gp_index=\"99999999999\"",
        8,
        "as the identity",
    ),
    (
        "type=\"PU\" os_index=\"0\"",
        "type=\"PU\"",
        9,
        "a PU without a number",
    ),
    (
        "type=\"PU\" os_index=\"0\"",
        "type=\"PU\" os_index=\"99999\"",
        9,
        "\"99999\" as the number of a PU",
    ),
    (
        "type=\"PU\" os_index=\"0\"",
        "type=\"PU\" os_index=\"3\"",
        9,
        "the CPUs 0 of a PU",
    ),
    (" cpuset=\"0x1\"", "", 8, "no cpuset"),
    (
        " cpuset=\"0x1\"",
        " cpuset=\"0xf...f\"",
        8,
        "\"0xf...f\" as cpuset",
    ),
    (
        " cpuset=\"0x1\"",
        " cpuset=\"zwei\"",
        8,
        "\"zwei\" as cpuset",
    ),
    (" cpuset=\"0x1\"", " cpuset=\"\"", 8, "\"\" as cpuset"),
    (
        " cpuset=\"0x1\"",
        " cpuset=\"0x1,\"",
        8,
        "\"0x1,\" as cpuset",
    ),
    (
        "complete_cpuset=\"0x7\"",
        "complete_cpuset=\"0x1\"",
        3,
        "a cpuset with members outside its complete_cpuset",
    ),
    (
        "allowed_cpuset=\"0x3\"",
        "allowed_cpuset=\"0x4\"",
        3,
        "an allowed_cpuset with members outside the machine",
    ),
    (
        "<object type=\"Core\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\"",
        "<object type=\"Core\" os_index=\"1\" cpuset=\"0x1\" complete_cpuset=\"0x1\"",
        11,
        "the CPUs 0 again",
    ),
    (
        "type=\"NUMANode\" os_index=\"1\"",
        "type=\"NUMANode\" os_index=\"0\"",
        6,
        "the nodes 1 of a NUMANode",
    ),
    (
        "type=\"Misc\" gp_index=\"9\"/>",
        "type=\"Misc\" gp_index=\"9\"><object type=\"Core\" gp_index=\"10\"/></object>",
        15,
        "a \"Core\" inside a Misc",
    ),
    (
        "nbobjs=\"2\"",
        "nbobjs=\"3\"",
        17,
        "2 numbers as indexes of 3 objects",
    ),
    (
        "nbobjs=\"2\"",
        "nbobjs=\"0\"",
        17,
        "\"0\" as the number of objects",
    ),
    ("kind=\"5\"", "kind=\"3\"", 17, "\"3\" as the kind"),
    (
        "indexing=\"os\"",
        "indexing=\"name\"",
        17,
        "\"name\" as the indexing",
    ),
    ("10 20 20 10 ", "10 20 20 x1 ", 17, "\"x1\" as a distance"),
    ("10 20 20 10 ", "10 20 201010", 17, "3 numbers as u64values"),
    (
        "length=\"12\"",
        "length=\"99\"",
        19,
        "the length \"99\" of a text of 12 bytes",
    ),
];

fn problem(text: &str) -> XmlProblem {
    check(text).expect_err("something is wrong")
}

/// Replaces the first `from` in the machine, which must contain it.
fn changed(from: &str, to: &str) -> String {
    assert!(MACHINE.contains(from), "{from:?} is not in the machine");
    MACHINE.replacen(from, to, 1)
}

#[test]
fn a_valid_machine_passes_and_is_rewritten() {
    let written = check(MACHINE).expect("nothing is wrong");
    assert!(written.contains("\n<topology version=\"2.0\">\n<object type=\"Machine\""));
    assert!(written.contains("<indexes length=\"4\">0 1 </indexes>"));
    assert!(
        !written.contains("info"),
        "elements that hwloc does not need are dropped"
    );
    let again = check(&written).expect("the rewritten machine is valid");
    assert_eq!(again, written);
}

#[test]
fn comments_and_stray_text_are_dropped_and_entities_normalised() {
    let odd = MACHINE
        .replacen("<info", "<!-- a comment --> some text <unknown/><info", 1)
        .replacen(
            "os_index=\"1\"",
            "os_index=\"&#49;\" subtype=\"a&amp;&quot;&#10;b\"",
            1,
        );
    let written = check(&odd).expect("nothing is wrong");
    assert!(
        !written.contains("comment")
            && !written.contains("some text")
            && !written.contains("unknown")
    );
    assert!(written.contains("subtype=\"a&amp;&quot;&#10;b\""));
}

#[test]
fn each_contradiction_is_reported_at_its_line() {
    for &(from, to, line, expected) in CONTRADICTIONS {
        let found = problem(&changed(from, to));
        assert!(found.found.contains(expected), "{to}: {found:?}");
        assert_eq!(found.line, line, "{to}: {found:?}");
    }
}

#[test]
fn inconsistent_sets_are_reported() {
    // The machine has a CPU that none of its children has.
    let more = MACHINE.replacen(" cpuset=\"0x3\"", " cpuset=\"0x7\"", 1);
    assert!(
        problem(&more)
            .found
            .contains("children with the CPUs 0-1 in an object with 0-2")
    );
    // A core that is near only one of the two nodes, although both are above it.
    let core = r#"<object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1""#;
    let fewer = MACHINE.replacen(
        &format!("{core} nodeset=\"0x3\""),
        &format!("{core} nodeset=\"0x1\""),
        1,
    );
    assert!(
        problem(&fewer)
            .found
            .contains("the nodes 0 on an object near 0-1")
    );
    // The second core before the first one.
    let cores = MACHINE
        .split_once("      <object type=\"Core\" os_index=\"0\"")
        .expect("a core");
    let (first, rest) = cores
        .1
        .split_once("      <object type=\"Core\" os_index=\"1\"")
        .expect("another");
    let (second, rest) = rest
        .split_once("    </object>\n    <object type=\"Misc\"")
        .expect("the end");
    let swapped = format!(
        "{}      <object type=\"Core\" os_index=\"1\"{second}      \
         <object type=\"Core\" os_index=\"0\"{first}    </object>\n    \
         <object type=\"Misc\"{rest}",
        cores.0
    );
    assert!(
        problem(&swapped)
            .expected
            .contains("in the order of their first CPU")
    );
}

#[test]
fn types_that_contain_each_other_are_reported() {
    let core = "<object type=\"Core\" os_index=\"1\"";
    let nested = changed(
        core,
        "<object type=\"L2Cache\" depth=\"2\" cache_type=\"0\"",
    );
    assert!(
        problem(&nested)
            .found
            .contains("a L2Cache inside a L2Cache")
    );
}

#[test]
fn other_content_than_a_topology_is_reported() {
    assert!(problem("").found.contains("an empty file"));
    assert!(problem(" \n ").found.contains("an empty file"));
    assert!(problem("<svg/>").found.contains("the element <svg>"));
    assert!(
        problem("<topology version=\"2.0\"/>")
            .found
            .contains("without an object")
    );
    assert!(problem("plain text").found.contains("malformed XML"));
    let two = MACHINE.replacen(
        "  <distances2",
        "  <object type=\"Machine\"/>\n  <distances2",
        1,
    );
    assert!(
        problem(&two)
            .found
            .contains("a second object beside the machine")
    );
}

#[test]
fn every_truncation_is_an_error_at_its_end() {
    for (length, _) in MACHINE
        .char_indices()
        .filter(|(length, _)| *length < MACHINE.trim_end().len())
    {
        let cut = &MACHINE[..length];
        let found = problem(cut);
        assert!(
            found.line as usize <= cut.matches('\n').count() + 1,
            "{found:?}"
        );
    }
    let half = &MACHINE[..MACHINE.find("<distances2").expect("a matrix")];
    assert_eq!(problem(half).line, 17);
}

#[test]
fn objects_nested_too_deeply_are_refused() {
    let open = "<object type=\"Group\" gp_index=\"1\" cpuset=\"0x1\" complete_cpuset=\"0x1\" \
                nodeset=\"0x1\" complete_nodeset=\"0x1\">";
    let mut text = "<topology version=\"2.0\">".to_owned() + &open.replace("Group", "Machine");
    for identity in 2..1000 {
        text += &open.replace("gp_index=\"1\"", &format!("gp_index=\"{identity}\""));
    }
    text += &"</object>".repeat(999);
    text += "</topology>";
    assert!(problem(&text).found.contains("more than 64 nested objects"));
}

#[test]
fn bytes_that_are_not_text_are_reported_with_their_position() {
    let found = decode(b"ab\nc\xffd").expect_err("no text");
    assert_eq!((found.line, found.column), (2, 2));
    assert_eq!(found.found, "bytes that are not text (0xff)");
}

#[test]
fn positions_at_the_end_of_messages_are_removed() {
    assert_eq!(without_position("unknown token at 3:14"), "unknown token");
    assert_eq!(without_position("looked at nothing"), "looked at nothing");
}
