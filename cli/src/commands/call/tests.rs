//! Made-up calls of the command line.

use std::num::NonZeroUsize;

use clap::error::ErrorKind;
use glam::DVec3;
use raddle_graphics::kdtree::{DEPTH_MAX, DepthLimit};

use super::*;
use crate::arguments::values::{self, DepthChoice};

fn parse(words: &[&str]) -> Result<Call, clap::Error> {
    super::parse(["raddle"].iter().chain(words).map(Into::into))
}

fn refused(words: &[&str]) -> ErrorKind {
    match parse(words) {
        Ok(call) => panic!("{words:?} passed: {call:?}"),
        Err(error) => error.kind(),
    }
}

#[test]
fn the_definition_is_consistent() {
    definition().debug_assert();
}

#[test]
fn a_call_needs_no_command() {
    assert!(parse(&[]).expect("the demo").command.is_none());
}

#[test]
fn options_may_precede_or_follow_the_command() {
    for words in [
        &["--workers", "2", "-q", "sort", "9"][..],
        &["--quiet", "--workers=2", "sort", "9"],
        &["--workers", "2", "sort", "-q", "9"],
        &["sort", "9", "--workers", "2", "-q"],
    ] {
        let Some(Command::Sort(sort)) = parse(words).expect("both places").command else {
            panic!("not a sort command");
        };
        let workers = sort.options.runtime.workers.map(NonZeroUsize::get);
        assert_eq!((workers, sort.options.quiet), (Some(2), true), "{words:?}");
    }
    for words in [
        &["topology", "--workers", "2"],
        &["--workers", "2", "topology"],
    ] {
        assert_eq!(refused(words), ErrorKind::UnknownArgument);
    }
    let demo = parse(&["--workers", "2"]).expect("the demo").options;
    assert_eq!(demo.runtime.workers.map(NonZeroUsize::get), Some(2));
}

#[test]
fn an_input_is_a_file_or_a_scene_and_not_both() {
    assert_eq!(refused(&["kdtree"]), ErrorKind::MissingRequiredArgument);
    assert_eq!(
        refused(&["kdtree", "a.ply", "--scene", "knot"]),
        ErrorKind::ArgumentConflict
    );
    assert!(parse(&["kdtree", "a.ply"]).is_ok());
    assert!(parse(&["kdtree", "--scene", "knot:5000"]).is_ok());
}

#[test]
fn values_out_of_range_are_refused() {
    for words in [
        &["--workers", "0", "sort", "9"][..],
        &["--workers", "many", "sort", "9"],
        &["--pool", "lake", "sort", "9"],
        &["--idle", "never", "sort", "9"],
        &["--affinity", "here", "sort", "9"],
        &["render", "a.ply", "-o", "a.png", "--size", "0x10"],
        &["render", "a.ply", "-o", "a.png", "--size", "10"],
        &["render", "a.ply", "-o", "a.png", "--samples", "0"],
        &["render", "a.ply", "-o", "a.png", "--fov", "0"],
        &["render", "a.ply", "-o", "a.png", "--fov", "NaN"],
        &["render", "a.ply", "-o", "a.png", "--eye", "1,2"],
        &["render", "a.ply", "-o", "a.png", "--eye", "1,2,inf"],
        &["render", "a.ply", "-o", "a.png", "--up", "0,0,0"],
        &["kdtree", "--scene", "sea"],
        &["kdtree", "--scene", "knot:0"],
        &["kdtree", "--scene", "knot:"],
        &["kdtree", "a.ply", "--depth", "deep"],
        &["kdtree", "a.ply", "--depth", "65"],
        &["kdtree", "a.ply", "--repeat", "0"],
        &["sort", "0"],
        &["sort", "1e"],
        &["sort", "e7"],
        &["sort", "2e-3"],
        &["sort", "1e99"],
        &["sort", "99e18"],
        &["sort", "1e3", "--cutoff", "0"],
        &["sort", "1e3", "--repeat", "0"],
    ] {
        let kind = refused(words);
        assert!(
            matches!(kind, ErrorKind::ValueValidation | ErrorKind::InvalidValue),
            "{words:?}: {kind:?}"
        );
    }
}

#[test]
fn vectors_may_be_negative_and_depths_have_three_forms() {
    let words = ["render", "a.ply", "-o", "a.png", "--eye", "-1,2,-3.5"];
    let Some(Command::Render(render)) = parse(&words).expect("a vector").command else {
        panic!("not a render command");
    };
    assert_eq!(render.arguments.view.eye, Some(DVec3::new(-1.0, 2.0, -3.5)));
    for (text, limit) in [
        ("auto", DepthLimit::Automatic),
        ("none", DepthLimit::Unlimited),
        ("0", DepthLimit::At(0)),
        ("15", DepthLimit::At(15)),
        ("64", DepthLimit::At(DEPTH_MAX)),
    ] {
        assert_eq!(
            text.parse::<DepthChoice>().map(|choice| choice.0),
            Ok(limit)
        );
        assert_eq!(DepthChoice(limit).to_string(), text);
    }
}

// Regression: larger depths were silently reduced to the largest depth.
#[test]
fn a_depth_beyond_the_largest_is_refused_and_the_error_names_the_largest() {
    for text in ["65", "4000000000", "99999999999999999999999", "-1", ""] {
        let error = text.parse::<DepthChoice>().expect_err("no depth");
        assert!(error.contains(&format!("to {DEPTH_MAX}")), "{error}");
    }
    let mut command = definition();
    let kdtree = command.find_subcommand_mut("kdtree").expect("the command");
    let help = kdtree.render_help().to_string();
    // The text may be wrapped anywhere.
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["a number from 0 to", "none, which means"] {
        assert!(words.contains(&format!("{part} {DEPTH_MAX}")), "{help}");
    }
}

#[test]
fn counts_are_written_in_full_or_with_a_power_of_ten() {
    for (text, count) in [("20000000", 20_000_000), ("2e7", 20_000_000), ("1E0", 1)] {
        assert_eq!(values::number_count(text), Ok(count));
    }
}

#[test]
fn a_way_to_wait_excludes_options_for_messages_and_workers() {
    for words in [
        &["--layer", "post"][..],
        &["--bytes", "16"],
        &["--workers", "2"],
        &["--mailbox", "locked"],
        &["--stats"],
    ] {
        let call = [&["pingpong", "--wait", "all"], words].concat();
        assert_eq!(refused(&call), ErrorKind::ArgumentConflict, "{call:?}");
    }
    let late = ["pingpong", "--late", "1ms"];
    assert_eq!(refused(&late), ErrorKind::MissingRequiredArgument);
    assert!(
        parse(&[
            "pingpong",
            "--wait",
            "auto",
            "--affinity",
            "0",
            "--late",
            "2 ms"
        ])
        .is_ok()
    );
}

#[test]
fn a_pause_has_a_unit() {
    let micros = |text| values::pause(text).map(|pause| pause.as_micros());
    assert_eq!(micros("500us"), Ok(500));
    assert_eq!(micros("0.5ms"), Ok(500));
    assert_eq!(micros("2s"), Ok(2_000_000));
    for text in ["", "5", "ms", "-1ms", "0us", "11s", "NaNs", "infs", "1e99s"] {
        assert!(values::pause(text).is_err(), "{text}");
    }
}
