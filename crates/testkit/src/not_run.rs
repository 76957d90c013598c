//! Parts of tests that this machine cannot run.

use std::fs::OpenOptions;
use std::io::Write;

/// The variable that names the file in which `make test` gathers what did not run.
const LIST: &str = "TONNAGE_NOT_RUN";

/// Records that the running test leaves out a part, and why. `make test` counts these at its end:
/// a test that returns early counts as passed otherwise.
///
/// # Panics
/// When the list that [`LIST`] names cannot be written: a part left out in silence looks tested.
pub fn not_run(reason: &str) {
    // libtest names the thread of each test after the test.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("not run: {test}: {reason}");
    let Some(list) = std::env::var_os(LIST) else { return };
    let file = OpenOptions::new().create(true).append(true).open(&list);
    // One write per line, so that the lines of several processes do not mix.
    let line = format!("{test}\t{reason}\n");
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", list.display()));
}
