//! Child processes of the tests: their time is bounded, and their end is judged.
//!
//! Children that run this program answer in lines: `BAD` and a text for what is wrong, `COUNT` with
//! a name and a number.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::fallible::Fallible;

/// The exit code of a child of this program that found something wrong.
pub(crate) const FOUND_EXIT_CODE: i32 = 1;

/// How a process ended, and what it said.
pub(crate) struct ProcessResult {
    /// Nothing when it took too long and was killed for it.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// This program, to be started once more.
pub(crate) fn myself(verb: &str) -> Fallible<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(verb).env("RUST_BACKTRACE", "0");
    Ok(command)
}

/// Runs a process to its end, at most for a while.
pub(crate) fn run(command: &mut Command, longest: Duration) -> Fallible<ProcessResult> {
    let mut child = spawn(command)?;
    let output = gather(child.stdout.take());
    let errors = gather(child.stderr.take());
    let status = wait(&mut child, longest)?;
    let text = |gathered: std::thread::JoinHandle<String>| gathered.join().unwrap_or_default();
    Ok(ProcessResult { status, output: text(output), errors: text(errors) })
}

fn spawn(command: &mut Command) -> Fallible<Child> {
    Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

/// Reads while the process runs, lest it waits for room in the pipe.
fn gather(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the end; kills the process when that takes too long.
fn wait(child: &mut Child, longest: Duration) -> Fallible<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() > longest {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl ProcessResult {
    /// Whether it was killed, as `kill -9` does.
    pub(crate) fn was_killed(&self) -> bool {
        self.status.is_some_and(|status| status.signal() == Some(9))
    }

    /// What is wrong with the way it ended: a hang, a panic, a signal, an exit code that is none of
    /// `expected`.
    pub(crate) fn complaints(&self, expected: &[i32]) -> Vec<String> {
        let tail = self.errors.trim().replace('\n', " ");
        let tail: String = tail.chars().take(400).collect();
        match self.status {
            None => vec![format!("HANG: it was killed for taking too long: {tail}")],
            _ if self.errors.contains("panicked") => vec![format!("PANIC {tail}")],
            Some(status) if status.code().is_some_and(|code| expected.contains(&code)) => vec![],
            Some(status) => vec![format!("DIED with {status}: {tail}")],
        }
    }

    /// All that a child of this program complained of, its own end included.
    pub(crate) fn answer(&self) -> Vec<String> {
        let said = self.output.lines().filter_map(|line| line.strip_prefix("BAD "));
        let mut complaints: Vec<String> = said.map(str::to_owned).collect();
        complaints.extend(self.complaints(&[0, FOUND_EXIT_CODE]));
        complaints
    }

    /// The counts that a child of this program gave.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.output.lines().filter_map(|line| {
            let (name, number) = line.strip_prefix("COUNT ")?.rsplit_once(' ')?;
            Some((name, number.parse().ok()?))
        })
    }
}
