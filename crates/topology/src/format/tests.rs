//! Text output, compared literally, and pictures, checked for their contents.

use roxmltree::Document;

use super::size::size;
use super::svg::escaped;
use super::*;

fn machine(description: &str) -> Topology {
    Topology::synthetic(description).expect(description)
}

#[test]
fn sizes_keep_two_digits() {
    let cases = [
        (0, "0KB"),
        (511, "0KB"),
        (512, "1KB"),
        (32 << 10, "32KB"),
        (1 << 20, "1024KB"),
        ((10 << 20) - 1, "10240KB"),
        (10 << 20, "10MB"),
        (32 << 20, "32MB"),
        (5_865_734_144, "5594MB"),
        (744 << 30, "744GB"),
        (10 << 40, "10TB"),
        (u64::MAX, "16777216TB"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(size(bytes), expected, "{bytes}");
    }
}

#[test]
fn text_is_like_the_output_of_hwloc() {
    let topology = machine("package:2 [numa(memory=1073741824)] l2:2(size=1048576) core:1 pu:2");
    let text = text(&topology);
    let tree = text.split("\n\n").next().expect("a tree");
    assert_eq!(
        tree,
        "Machine (2048MB total)
  Package L#0
    NUMANode L#0 (P#0 1024MB)
    L2 L#0 (1024KB) + Core L#0
      PU L#0 (P#0)
      PU L#1 (P#1)
    L2 L#1 (1024KB) + Core L#1
      PU L#2 (P#2)
      PU L#3 (P#3)
  Package L#1
    NUMANode L#1 (P#1 1024MB)
    L2 L#2 (1024KB) + Core L#2
      PU L#4 (P#4)
      PU L#5 (P#5)
    L2 L#3 (1024KB) + Core L#3
      PU L#6 (P#6)
      PU L#7 (P#7)"
    );
    assert!(
        text.contains("\nsource:   synthetic: package:2 [numa(memory=1073741824)]"),
        "{text}"
    );
    assert!(text.contains("\nallowed:  8 of 8 CPUs (0-7)\n"), "{text}");
    assert!(text.ends_with("\nworkers:  8 by default\n"), "{text}");
}

#[test]
fn this_machine_is_described_with_its_quota() {
    let topology = Topology::this_machine().expect("hwloc knows this machine");
    let text = text(topology);
    assert!(
        text.contains("\nsource:   this machine (hwloc API "),
        "{text}"
    );
    assert!(text.contains("\nquota:    "), "{text}");
}

/// Returns the number of boxes of a class, including those of the legend.
fn count(picture: &Document<'_>, class: &str) -> usize {
    picture
        .descendants()
        .filter(|node| node.attribute("class") == Some(class))
        .count()
}

#[test]
fn a_picture_has_a_box_for_every_object() {
    let topology = machine("package:2 l2:2 core:2 pu:2");
    let picture = svg(&topology);
    let picture = Document::parse(&picture).expect("it is well formed");
    assert_eq!(count(&picture, "allowed"), 16 + 1);
    assert_eq!(count(&picture, "forbidden"), 1);
    assert_eq!(count(&picture, "core"), 8 + 1);
    assert_eq!(count(&picture, "package"), 2);
    assert_eq!(count(&picture, "data"), 4 + 1);
    assert_eq!(count(&picture, "more"), 0);
}

#[test]
fn boxes_stay_inside_the_picture_and_siblings_apart() {
    let topology = machine("package:3 l3:2 core:5 pu:2");
    let layout = layout::layout(&topology);
    let inner: Vec<_> = layout
        .tiles
        .iter()
        .filter(|tile| tile.look == layout::Look::Core)
        .collect();
    for tile in &layout.tiles {
        assert!(
            tile.x >= 0.0 && tile.x + tile.width <= layout.width + 1e-6,
            "{tile:?}"
        );
        assert!(
            tile.y >= 0.0 && tile.y + tile.height <= layout.height + 1e-6,
            "{tile:?}"
        );
    }
    for (index, left) in inner.iter().enumerate() {
        for right in &inner[index + 1..] {
            let apart = left.x + left.width <= right.x
                || right.x + right.width <= left.x
                || left.y + left.height <= right.y
                || right.y + right.height <= left.y;
            assert!(apart, "{left:?} {right:?}");
        }
    }
}

#[test]
fn a_huge_machine_is_drawn_in_part_and_counted() {
    let topology = machine("numa:16 core:32 pu:4");
    let picture = svg(&topology);
    assert!(picture.len() < 100_000, "{} bytes", picture.len());
    let picture = Document::parse(&picture).expect("it is well formed");
    assert!(count(&picture, "more") > 0);
    let labels: Vec<_> = picture
        .descendants()
        .filter_map(|node| node.text())
        .collect();
    // Two nodes at the start and one at the end are drawn, and so is the last CPU.
    assert!(
        labels.contains(&"… 13 more …") && labels.contains(&"… 29 more …"),
        "{labels:?}"
    );
    assert!(labels.contains(&"PU P#2047"));
}

#[test]
fn any_text_is_safe_in_a_picture() {
    assert_eq!(
        escaped("<a & 'b\"\n\u{1}>"),
        "&lt;a &amp; &apos;b&quot; \u{fffd}&gt;"
    );
    let topology = machine("core:1(indexes=0) pu:1");
    let picture = svg(&topology);
    Document::parse(&picture).expect("it is well formed");
}

#[test]
fn a_text_that_is_too_long_is_cut() {
    let long = format!("pu:1{}", " ".repeat(400));
    let picture = svg(&machine(&long));
    assert!(picture.contains('…'));
}

#[test]
fn json_ends_in_a_line_break() {
    let json = json(&machine("pu:2"));
    assert!(json.starts_with("{\n") && json.ends_with("}\n"));
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
}
