//! The memory that is available and the memory that was used, as the system reports them.

use std::fs;
use std::path::Path;

/// Returns the largest amount of memory that this process has held, in bytes; `None` if the system
/// does not report it.
pub(crate) fn peak_bytes() -> Option<u64> {
    kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Returns how much memory this process can still allocate, in bytes; `None` if the system does not
/// report it. The result respects the memory of the machine, control groups and `ulimit -v`.
pub(crate) fn available_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| kibibytes(&text, "MemAvailable:"));
    let limits = left_in_group().into_iter().chain(left_in_address_space());
    machine.into_iter().chain(limits).min()
}

/// Returns the text after "expected" in the error for too large a request: at most the available
/// bytes, or `otherwise` if they are unknown.
pub(crate) fn expected(available: Option<u64>, otherwise: &str) -> String {
    available.map_or_else(
        || otherwise.to_owned(),
        |available| format!("at most {available} bytes"),
    )
}

/// Returns the number of bytes that `ulimit -v` leaves; `None` without such a limit.
fn left_in_address_space() -> Option<u64> {
    let limit = soft_limit(
        &fs::read_to_string("/proc/self/limits").ok()?,
        "Max address space",
    )?;
    let taken = kibibytes(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(limit.saturating_sub(taken))
}

/// Returns the first number in the line that begins with `name`; `None` without a limit.
fn soft_limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the number of bytes that the control groups leave; `None` without a limit.
fn left_in_group() -> Option<u64> {
    // If no limit can be read, the memory of the machine is the limit.
    let limit = raddle_topology::memory_limit(Path::new("/")).ok()??;
    Some(limit.left_bytes())
}

/// Returns the number in the line that begins with `name`, converted from KiB to bytes.
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
    fn a_limit_is_a_number_or_absent() {
        let text = "Max resident set          unlimited            unlimited            bytes\n\
                    Max address space         614400000            unlimited            bytes\n";
        assert_eq!(soft_limit(text, "Max address space"), Some(614_400_000));
        assert_eq!(soft_limit(text, "Max resident set"), None);
        assert_eq!(soft_limit(text, "Max msgqueue size"), None);
    }
}
