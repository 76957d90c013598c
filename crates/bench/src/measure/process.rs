//! What this process takes of the machine, as `/proc` says. Where there is none, everything is 0.

use std::fs;
use std::str::FromStr;

/// Ticks of a second in `/proc/self/stat`: the same on every Linux that programs are built for.
const TICKS_PER_SECOND: f64 = 100.0;

/// A reading of it. All but the memory only grow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessFigures {
    /// Seconds that cores worked for it.
    pub(super) cpu_seconds: f64,
    /// Its memory.
    pub(super) memory_bytes: u64,
    /// Bytes it had read from disks.
    pub(super) read_bytes: u64,
    /// Bytes it had written to disks.
    pub(super) written_bytes: u64,
}

impl ProcessFigures {
    pub(super) fn read() -> Self {
        let io = read("/proc/self/io");
        ProcessFigures {
            cpu_seconds: cpu_seconds(&read("/proc/self/stat")).unwrap_or(0.0),
            memory_bytes: status_bytes("VmRSS"),
            read_bytes: number_of(&io, "read_bytes").unwrap_or(0),
            written_bytes: number_of(&io, "write_bytes").unwrap_or(0),
        }
    }
}

/// Forgets the highest memory so far. Gives whether that worked: not every kernel and container
/// lets one.
pub(super) fn reset_memory_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The highest memory since the last reset.
pub(super) fn memory_peak_bytes() -> u64 {
    status_bytes("VmHWM")
}

fn status_bytes(name: &str) -> u64 {
    number_of(&read("/proc/self/status"), name).unwrap_or(0) * 1024
}

/// The text of a file; empty where there is none.
pub(super) fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The value of the first line of a name.
pub(super) fn value_of<'t>(text: &'t str, name: &str, separator: char) -> Option<&'t str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(separator));
    lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

fn number_of(text: &str, name: &str) -> Option<u64> {
    first(value_of(text, name, ':')?)
}

/// The first of the numbers that a text begins with.
pub(super) fn first<N: FromStr>(text: &str) -> Option<N> {
    text.split_whitespace().next()?.parse().ok()
}

/// Ticks in user and in system mode are the 14th and 15th field; the second, the name, may hold
/// blanks and brackets.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_with_blanks_and_brackets_does_not_shift_the_fields() {
        let stat = "12 (a) b) c) S 1 12 12 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 4 0 100 1000 10";
        assert_eq!(cpu_seconds(stat), Some(3.0));
    }

    #[test]
    fn what_is_cut_short_gives_nothing() {
        assert_eq!(cpu_seconds("12 (a) S 1"), None);
        assert_eq!(number_of("VmRSS:", "VmRSS"), None);
    }

    #[test]
    fn a_value_is_found_by_its_whole_name() {
        let text = "model\t\t: 207\nmodel name\t: A fast one: 2.0\n";
        assert_eq!(value_of(text, "model name", ':'), Some("A fast one: 2.0"));
        assert_eq!(value_of(text, "name", ':'), None);
    }
}
