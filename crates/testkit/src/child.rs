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
/// When the system does not know the path of this program.
pub fn again(test: &str) -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command
}

/// Does the work of a test in a process of its own, with this variable in its environment. The name
/// of the test is that of [`again`].
///
/// # Panics
/// When the work fails there, or there is no such test, or one of its threads panics.
pub fn alone(test: &str, (name, value): (&str, &str), work: impl FnOnce()) {
    if std::env::var(name).is_ok_and(|set| set == value) {
        return work();
    }
    let printed = run_alone(again(test).env(name, value));
    assert!(!printed.contains("panicked"), "{printed}");
}

/// Runs the command of [`again`] to its end. Gives what it printed.
fn run_alone(command: &mut Command) -> String {
    let ended = command.output().expect("this program runs once more");
    let printed = [ended.stdout, ended.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    assert!(ended.status.success() && printed.contains("1 passed"), "{printed}");
    printed
}

/// Rounds of kills at the most.
const ROUNDS_MAX: i64 = 6;

/// Numbers of kills, in rounds of so many, each with how many times as long as usual its child
/// lives: twice as long in each round as in the one before.
///
/// On a busy machine a child hardly begins before it is killed. The caller stops after the first
/// round in which the children came to something, and asserts in the end that they did.
pub fn kill_rounds(kills: i64) -> impl Iterator<Item = (i64, u32)> {
    (0..ROUNDS_MAX * kills).map(move |kill| (kill, 1_u32 << (kill / kills)))
}

/// Kills a child after a while. Returns whether it was still at work.
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
