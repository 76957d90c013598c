//! Which process has a store open, as its lock file says.
//!
//! The file holds `pid 1234 tonnage` and a line feed. People read it; the lock itself is the
//! operating system's. The file may be stale or missing.

use std::env;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::process;

/// More than a process number and a name are never read.
const BYTES_MAX: u64 = 256;

/// Notes this process in the file that it has locked. On a full disk there is no note.
pub(super) fn note(mut lock: &File) {
    let program = env::args_os().next().unwrap_or_default();
    let program = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
    let line = format!("pid {} {program}\n", process::id());
    let _ =
        lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| lock.write_all(line.as_bytes()));
}

/// Who has locked a file, in words.
pub(super) fn describe(path: &Path) -> String {
    let mut text = String::new();
    let read = File::open(path).map(|file| file.take(BYTES_MAX).read_to_string(&mut text));
    let noted = read.is_ok().then(|| parse(&text)).flatten();
    match noted {
        Some((pid, _)) if pid == process::id() => "this process has it open already".to_owned(),
        Some((pid, program)) => format!("process {pid} ({program}) has it open"),
        None => "another process has it open, or this one once more".to_owned(),
    }
}

fn parse(line: &str) -> Option<(u32, &str)> {
    let (pid, program) = line.strip_prefix("pid ")?.strip_suffix('\n')?.split_once(' ')?;
    let is_plain = !program.chars().any(char::is_control);
    is_plain.then_some((pid.parse().ok()?, program))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn described(text: &[u8]) -> String {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("LOCK");
        fs::write(&path, text).unwrap();
        describe(&path)
    }

    #[test]
    fn a_process_is_named() {
        assert_eq!(described(b"pid 1 some program\n"), "process 1 (some program) has it open");
    }

    #[test]
    fn a_note_replaces_the_one_before() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("LOCK");
        fs::write(&path, format!("pid 1 {}\n", "x".repeat(100))).unwrap();
        note(&File::options().write(true).open(&path).unwrap());
        assert_eq!(describe(&path), "this process has it open already");
    }

    #[test]
    fn a_damaged_note_is_passed_over() {
        let unknown = "another process has it open, or this one once more";
        for text in [&b""[..], b"pid", b"pid x y\n", b"pid 1 torn", b"pid 1 \x1b[2J\n", b"\xff\xfe"]
        {
            assert_eq!(described(text), unknown, "{text:?}");
        }
    }
}
