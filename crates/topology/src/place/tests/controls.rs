//! The placement of control threads, and its description.

use super::*;

/// Places a pipeline on two packages of three cores. Only the first core has two usable hardware
/// threads, 0 and 1.
fn on_mixed_cores(parties: usize) -> Placement {
    let topology = synthetic("package:2 core:3 pu:2");
    let cpus = [0, 1, 2, 4, 6, 8, 10].map(CpuId).into_iter().collect();
    let options = PlaceOptions::new().control(Control::Reserved).cpus(cpus);
    place(&pipeline(parties), &topology, &options).unwrap()
}

#[test]
fn control_threads_get_the_other_hardware_thread() {
    let topology = synthetic("package:2 core:2 pu:2");
    let options = PlaceOptions::new().control(Control::Reserved);
    let placement = place(&pipeline(4), &topology, &options).unwrap();
    for (cpu, control) in placement.cpus.iter().zip(&placement.control) {
        assert_eq!(cpu.0 % 2, 0);
        assert_eq!(*control, Some(CpuId(cpu.0 + 1)));
    }
    // If there are more parties than cores, they share the first hardware threads.
    let placement = place(&pipeline(6), &topology, &options).unwrap();
    assert!(placement.cpus.iter().all(|cpu| cpu.0 % 2 == 0));
    assert_eq!(placement.parties_per_cpu, 2);
}

#[test]
fn control_threads_get_spare_cores_if_there_are_any() {
    let topology = synthetic("package:2 core:4 pu:1");
    let options = PlaceOptions::new().control(Control::Reserved);
    let placement = place(&pipeline(6), &topology, &options).unwrap();
    let controls: CpuSet = placement.control.iter().copied().flatten().collect();
    assert_eq!(controls.len(), 2);
    assert!(placement.cpus.iter().all(|cpu| !controls.contains(*cpu)));
    assert!(placement.control.iter().all(Option::is_some));
    let placement = place(&pipeline(8), &topology, &options).unwrap();
    assert!(placement.control.iter().all(Option::is_none));
}

/// Reproduces a bug: a single core with two hardware threads left the parties on all other cores
/// without control threads.
#[test]
fn parties_on_cores_with_one_hardware_thread_get_a_near_spare_core() {
    for parties in 1..6 {
        let placement = on_mixed_cores(parties);
        let used: CpuSet = placement.cpus.iter().copied().collect();
        for (cpu, control) in placement.cpus.iter().zip(&placement.control) {
            let control = control.expect("there are spare cores");
            assert!(!used.contains(control));
            assert_eq!(control == CpuId(1), *cpu == CpuId(0), "{placement:?}");
        }
    }
    let strategy = PlaceOptions::new().strategy(Strategy::Scatter);
    let cpus = [0, 1, 2, 4, 6, 8, 10].map(CpuId).into_iter().collect();
    let options = strategy.control(Control::Reserved).cpus(cpus);
    let topology = synthetic("package:2 core:3 pu:2");
    let placement = place(&pipeline(2), &topology, &options).unwrap();
    // There is one party in each package. One has its sibling, the other the nearest core, which is
    // not the one with the lowest number.
    assert_eq!(placement.cpus, [CpuId(0), CpuId(6)]);
    assert_eq!(placement.control, [Some(CpuId(1)), Some(CpuId(8))]);
}

#[test]
fn reason_describes_where_control_threads_are() {
    let reason = |parties| on_mixed_cores(parties).reason;
    let counts = "of 1 party on the other hardware thread of the core, \
                  of 4 parties on cores that no party needs";
    assert!(
        reason(5).ends_with(&format!("; control threads {counts}")),
        "{}",
        reason(5)
    );
    let counts = "of 1 party on the other hardware thread of the core, \
                  of 5 parties left to the operating system";
    assert!(reason(6).ends_with(counts), "{}", reason(6));
    let all = |shape: &str, parties| {
        let options = PlaceOptions::new().control(Control::Reserved);
        let placement = place(&pipeline(parties), &synthetic(shape), &options);
        placement.unwrap().reason
    };
    let siblings = "; control threads on the other hardware threads of the cores";
    assert!(all("core:4 pu:2", 3).ends_with(siblings));
    let spare = "; control threads on cores that no party needs";
    assert!(all("core:4 pu:1", 3).ends_with(spare));
    assert!(!all("core:4 pu:1", 4).contains("control"));
}
