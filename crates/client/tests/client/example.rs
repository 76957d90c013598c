//! The example, compiled and run against a server.

#[path = "../../examples/remote.rs"]
#[allow(dead_code, reason = "an example has a main function")]
mod remote;

use crate::support::Running;

#[test]
fn the_example_runs() {
    let server = Running::new();
    let latest = remote::run(&server.address()).unwrap();
    assert_eq!(latest, 10);
}
