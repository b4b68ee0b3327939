//! Where control threads go, and what is told about them.

use super::*;

/// Two packages of three cores, of which only the first core has two usable hardware threads, 0 and 1.
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
    // More parties than cores share the first hardware threads rather than take the second ones.
    let placement = place(&pipeline(6), &topology, &options).unwrap();
    assert!(placement.cpus.iter().all(|cpu| cpu.0 % 2 == 0));
    assert_eq!(placement.parties_per_cpu, 2);
}

#[test]
fn control_threads_get_spare_cores_and_none_where_there_are_none() {
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

/// One core with two hardware threads left the parties on all others without control threads.
#[test]
fn whose_core_has_one_hardware_thread_has_a_spare_core_near_it() {
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
    // One in each package: one has its sibling, the other the nearest core, which is not that of the lowest number.
    assert_eq!(placement.cpus, [CpuId(0), CpuId(6)]);
    assert_eq!(placement.control, [Some(CpuId(1)), Some(CpuId(8))]);
}

#[test]
fn what_is_told_about_control_threads_is_so() {
    let told = |parties| on_mixed_cores(parties).reason;
    let counts = "of 1 on the other hardware thread of the core, of 4 on cores that no party needs";
    assert!(
        told(5).ends_with(&format!("; control threads {counts}")),
        "{}",
        told(5)
    );
    let counts = "of 1 on the other hardware thread of the core, of 5 left to the operating system";
    assert!(told(6).ends_with(counts), "{}", told(6));
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
