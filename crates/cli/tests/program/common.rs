//! The real program in a directory of its own.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tonnage_testkit::wait_until;

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) err: String,
}

impl Run {
    /// The run, which must have ended with this code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n--- out\n{}\n--- err\n{}", self.out, self.err);
        self
    }

    /// The run, whose standard error must hold all of these.
    #[track_caller]
    pub(crate) fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.err.contains(text), "'{text}' is missing in\n{}", self.err);
        }
        self
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }
}

/// A directory with a store `S`.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tonnage"));
        command
            .args(arguments)
            .env("TONNAGE_STORE", "S")
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        finished(self.command(arguments).output().unwrap())
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Run {
        let (child, mut stdin) = piped(&mut self.command(arguments));
        stdin.write_all(input).unwrap();
        drop(stdin);
        finished(child.wait_with_output().unwrap())
    }

    /// Makes a table of ships: `ship`, `at`, `lat`, `name`.
    pub(crate) fn with_ships(self) -> Self {
        let ddl = "CREATE TABLE ships (ship LONG, at TIMESTAMP(0), lat DOUBLE, name STRING, PRIMARY KEY (SHARD(ship), at))";
        self.run(&["sql", ddl]).ends(0);
        self
    }
}

/// Starts a command whose input is written by the test, and stays open until that is dropped.
pub(crate) fn piped(command: &mut Command) -> (Child, ChildStdin) {
    let all = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = all.spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

pub(crate) fn finished(output: std::process::Output) -> Run {
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        bytes: output.stdout,
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Whether a line of `--progress json` tells that something was read.
pub(crate) fn has_read(line: &str) -> bool {
    let figures: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
    figures["read"].as_u64().is_some_and(|read| read > 0)
}

/// Waits until a process has worked for so many ticks of its CPU time more, of which 100 are a
/// second. Where the system does not tell them, it waits for a few seconds.
pub(crate) fn wait_for_work(pid: u32, ticks: u64) {
    if !cfg!(target_os = "linux") {
        return std::thread::sleep(Duration::from_secs(3));
    }
    let worked = || -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut behind_name = stat.rsplit(')').next()?.split_whitespace();
        // A child that has ended is there until it is waited for, and so is the time that it took.
        if behind_name.next()? == "Z" {
            return None;
        }
        behind_name.nth(10)?.parse().ok()
    };
    let enough = worked().unwrap_or_default() + ticks;
    // A process that is gone works no more: the next step of the test shows it.
    wait_until("it works", || worked().is_none_or(|worked| worked >= enough));
}

/// A wait for a child that had ended took a minute, and the error was that it does not work, and
/// not why it ended.
#[cfg(target_os = "linux")]
#[test]
fn nobody_waits_for_the_work_of_a_child_that_has_ended() {
    let mut child = Command::new("true").spawn().unwrap();
    wait_for_work(child.id(), 1_000_000);
    assert!(child.wait().unwrap().success());
}

/// CSV of `count` ships, each once.
pub(crate) fn ships_csv(count: usize) -> String {
    let rows = (0..count)
        .map(|ship| format!("{ship},2022-01-03T00:00:00,{}.5,\"ship, {ship}\"\n", ship % 90));
    std::iter::once("ship,at,lat,name\n".to_owned()).chain(rows).collect()
}
