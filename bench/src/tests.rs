//! Tests of calls that are accepted, and of calls that are refused.

use super::*;

fn parsed(line: &str) -> Arguments {
    Arguments::try_parse_from(line.split_whitespace()).expect("a call that clap accepts")
}

#[test]
fn mesh_can_be_given_several_times() {
    let arguments = parsed("raddle-bench kdtree --mesh a.ply --case grain --mesh b.obj");
    assert_eq!(
        arguments.meshes,
        [PathBuf::from("a.ply"), PathBuf::from("b.obj")]
    );
    assert_eq!(arguments.refusal(), None);
}

#[test]
fn the_help_for_a_suite_explains_its_cases() {
    let help = command(Some(Suite::Kdtree)).render_long_help().to_string();
    for case in kdtree::CASES {
        let line = format!("\n  {case:<12} ");
        assert!(help.contains(&line), "{case} is missing in: {help}");
    }
    let general = command(None).render_long_help().to_string();
    assert!(help.starts_with(general.trim_end()), "{help}");
}

#[test]
fn records_of_a_file_are_not_measured_again() {
    let arguments = parsed("raddle-bench multicore --case progress --from a.jsonl --plot a.svg");
    assert_eq!(arguments.refusal(), None);
    assert_eq!(arguments.from, Some(PathBuf::from("a.jsonl")));
    for option in ["--json", "--pairs 3", "--workers 2", "--mesh a.ply"] {
        let line = format!("raddle-bench kdtree --from a.jsonl {option}");
        let refused = Arguments::try_parse_from(line.split_whitespace());
        assert!(refused.is_err(), "{line}");
    }
}

#[test]
fn mesh_is_refused_for_cases_without_meshes() {
    for line in [
        "raddle-bench rays --mesh a.ply",
        "raddle-bench kdtree --case dragon-d15 --mesh a.ply",
    ] {
        let refusal = parsed(line).refusal().expect("a wrong call");
        assert!(refusal.starts_with("--mesh applies to"), "{refusal}");
    }
}

#[test]
fn pools_are_named_by_a_list_for_cases_that_compare_them() {
    let arguments = parsed("raddle-bench pools --case sort1e7 --pool sq-lf,blocks,DQ-PTH");
    let pools = [PoolKind::SqLf, PoolKind::DqBlTlC, PoolKind::DqPth];
    assert_eq!(arguments.pools, pools);
    assert_eq!(arguments.refusal(), None);
    for line in [
        "raddle-bench locks --pool deque",
        "raddle-bench pools --case sizes1e7 --pool deque",
    ] {
        let refusal = parsed(line).refusal().expect("a wrong call");
        assert!(refusal.starts_with("--pool applies to"), "{refusal}");
    }
}

#[test]
fn workers_are_refused_for_suites_and_cases_with_a_fixed_number() {
    let call = |line| parsed(line).refusal();
    for line in [
        "rays",
        "wake",
        "bricks",
        "dirt",
        "waits --case soon",
        "nodes",
        "model",
        "place",
    ] {
        let line = format!("raddle-bench {line} --workers 2");
        let refusal = parsed(&line).refusal().expect("a wrong call");
        assert!(
            refusal.starts_with("--workers does not apply to the "),
            "{refusal}"
        );
    }
    let refusal = call("raddle-bench locks --case clh --workers 2").expect("a wrong call");
    assert!(refusal.contains("the case clh"), "{refusal}");
    assert!(call("raddle-bench idle --case ramp-tree --workers 2").is_some());
    assert!(call("raddle-bench kdtree --case bunny-d15 --workers 2").is_some());
    assert_eq!(call("raddle-bench locks --workers 1,2"), None);
    assert_eq!(
        call("raddle-bench locks --case contended-clh --workers 2"),
        None
    );
    assert_eq!(call("raddle-bench forks --case fib38 --workers 2"), None);
}

#[test]
fn only_cases_of_the_suite_are_accepted() {
    for case in kdtree::CASES {
        let line = format!("raddle-bench kdtree --case {case}");
        assert_eq!(parsed(&line).refusal(), None);
    }
    let refusal = parsed("raddle-bench kdtree --case fib38").refusal();
    let refusal = refusal.expect("a case of another suite");
    assert!(refusal.starts_with("no case \"fib38\"; expected one of dragon-d15, "));
}

#[test]
fn plot_is_refused_for_cases_that_are_not_drawn() {
    let call = |line| parsed(line).refusal();
    assert_eq!(call("raddle-bench kdtree --plot a.svg"), None);
    assert_eq!(call("raddle-bench kdtree --case sync --plot a.svg"), None);
    assert!(call("raddle-bench kdtree --case bunny-d15 --plot a.svg").is_some());
    assert_eq!(call("raddle-bench lk23 --case lk23-512 --plot a.svg"), None);
    assert_eq!(
        call("raddle-bench nodes --case kneighbor --plot a.svg"),
        None
    );
    assert!(call("raddle-bench nodes --case mpi --plot a.svg").is_some());
    assert!(call("raddle-bench forks --plot a.svg").is_some());
}

#[test]
fn kdtree_measures_with_powers_of_two_and_all_cpus_by_default() {
    assert_eq!(Suite::Kdtree.default_workers(1), [1]);
    assert_eq!(Suite::Kdtree.default_workers(12), [1, 2, 4, 8, 12]);
    assert_eq!(Suite::Kdtree.default_workers(16), [1, 2, 4, 8, 16]);
    assert_eq!(Suite::Forks.default_workers(16), [1, 16]);
    assert_eq!(Suite::Forks.default_workers(1), [1]);
}
