//! A topology file of version "2.o0", as fuzzing wrote it, was taken for one of version 2.
//!
//! hwloc cannot read such a number, goes on as if the file were an older one, and groups memories by their distances although
//! the file has its groups already; where the machine has CPUs that are not there, the tree that comes out contradicts itself,
//! and hwloc's own check of it ends the process.

use raddle_topology::Topology;

const MACHINE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="VERSION">
<object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x7" allowed_cpuset="0x3" nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
<object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="2" local_memory="4096"/>
<object type="NUMANode" os_index="1" cpuset="0x3" complete_cpuset="0x3" nodeset="0x2" complete_nodeset="0x2" gp_index="3"/>
<object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x3" complete_nodeset="0x3" gp_index="5">
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x3" complete_nodeset="0x3" gp_index="6"/>
</object>
<object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x3" complete_nodeset="0x3" gp_index="7">
<object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x3" complete_nodeset="0x3" gp_index="8"/>
</object>
</object>
<distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
<indexes length="4">0 1 </indexes>
<u64values length="12">10 20 20 10 </u64values>
</distances2>
</topology>
"#;

#[test]
fn version_that_is_no_number_is_refused() {
    let read = |version| Topology::read_xml(MACHINE.replace("VERSION", version).as_bytes(), "it");
    assert!(read("2.0").is_ok());
    let error = read("2.o0").expect_err("no version").to_string();
    assert!(
        error.starts_with("it:3:") && error.contains("version \"2.o0\""),
        "{error}"
    );
}
