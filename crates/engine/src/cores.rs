//! How many threads can run at a time.

use std::sync::OnceLock;

/// How many threads can run side by side. Asked of the system once: on Linux that takes ten
/// microseconds and several system calls, more than reading a row.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(2, |cores| cores.get()))
}
