//! Time and memory.

use std::time::Instant;

/// Runs work and tells how long it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed().as_secs_f64())
}

/// `name   12.34 s   1.234 M rows/s`
pub(crate) fn report(name: &str, rows: u64, seconds: f64) {
    println!("{name:<58} {seconds:8.2} s  {:8.3} M rows/s", rows as f64 / seconds / 1e6);
}

/// Starts the measure of the highest memory anew.
pub(crate) fn reset_peak_memory() {
    // Where the kernel does not allow it, the peak is that of the whole run.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The process's highest memory since then, and its memory now, in MiB.
pub(crate) fn memory_mib() -> (u64, u64) {
    (status_kib("VmHWM:") >> 10, status_kib("VmRSS:") >> 10)
}

fn status_kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}
