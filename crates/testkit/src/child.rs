//! Tests that run in a process of their own.

use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// The command that runs a test of this program once more, in a process of its own. An environment
/// variable that the caller adds tells the test that it is a child.
///
/// The name is that which `--list` prints: the modules and the function.
///
/// # Panics
/// When the system does not tell where this program lies.
pub fn again(test: &str) -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command
}

/// Runs the command of [`again`] to its end.
///
/// # Panics
/// When the test fails, or when there is none of that name.
pub fn run_alone(command: &mut Command) {
    let ended = command.output().expect("this program runs once more");
    let printed = [ended.stdout, ended.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(ended.status.success() && printed.contains("1 passed"), "{printed}");
}

/// Kills a child after a while. Tells whether it was still at work.
///
/// # Panics
/// When it cannot be killed.
pub fn kill_after(child: &mut Child, life: Duration) -> bool {
    thread::sleep(life);
    let ended = child.try_wait().expect("a child that was not waited for");
    child.kill().expect("a child that was not waited for");
    child.wait().expect("a child that was not waited for");
    ended.is_none()
}
