//! How much memory there is, and how much was used, as far as the system tells.

use std::fs;
use std::path::Path;

/// The most memory that this process ever held, in bytes; `None` where the system does not tell.
pub(crate) fn peak_bytes() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// How much this process may still take before the system runs out or ends it, in bytes; `None` where the system does
/// not tell.
pub(crate) fn available_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| kibibytes(&text, "MemAvailable:"));
    let limits = left_in_group().into_iter().chain(left_in_address_space());
    machine.into_iter().chain(limits).min()
}

/// What `ulimit -v` still grants, where there is such a limit.
fn left_in_address_space() -> Option<u64> {
    let limit = soft_limit(
        &fs::read_to_string("/proc/self/limits").ok()?,
        "Max address space",
    )?;
    let taken = kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(taken))
}

/// The first number in the line that begins with `name`; `None` where there is no limit.
fn soft_limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What the control groups still grant, where there is a limit.
fn left_in_group() -> Option<u64> {
    // Without a limit that can be read, the machine's own memory is the limit.
    let limit = raddle_topology::memory_limit(Path::new("/")).ok()??;
    Some(limit.left_bytes())
}

/// The number in the line that begins with `name`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_its_name() {
        let text = "MemTotal:  16 kB\nMemAvailable:   12 kB\n";
        assert_eq!(kibibytes(text, "MemAvailable:"), Some(12 * 1024));
        assert_eq!(kibibytes(text, "MemFree:"), None);
        assert_eq!(kibibytes("VmHWM: many kB", "VmHWM:"), None);
    }

    #[test]
    fn a_limit_is_a_number_or_none() {
        let text = "Max resident set          unlimited            unlimited            bytes\n\
                    Max address space         614400000            unlimited            bytes\n";
        assert_eq!(soft_limit(text, "Max address space"), Some(614_400_000));
        assert_eq!(soft_limit(text, "Max resident set"), None);
        assert_eq!(soft_limit(text, "Max msgqueue size"), None);
    }
}
