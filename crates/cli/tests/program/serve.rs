//! `tonnage serve`: listeners, settings from three places, and two signals.

use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::common::Place;
use crate::served::Served;

#[test]
fn each_listener_is_told_and_what_was_acknowledged_outlives_the_first_signal() {
    let place = Place::new();
    let served = Served::new(&place, &[], &[]);
    assert_eq!(served.lines.len(), 3, "{:?}", served.lines);
    assert!(served.lines[1].starts_with("Flight  grpc://127.0.0.1:"), "{:?}", served.lines);
    let created = served.request("POST /v1/tables", "CREATE TABLE t (k LONG, PRIMARY KEY (k))");
    assert!(created.starts_with("HTTP/1.1 200"), "{created}");
    let put = served.request("PUT /v1/tables/t/row?k=5", "{}");
    assert!(put.starts_with("HTTP/1.1 204"), "{put}");
    served.signal(Signal::SIGTERM);
    let (code, said) = served.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("draining"), "{said}");
    assert_eq!(place.run(&["count", "t"]).ends(0).out.trim(), "1");
}

#[test]
fn the_second_signal_ends_it_at_once() {
    let place = Place::new();
    let mut served = Served::new(&place, &["--drain-wait", "10m"], &[]);
    served.signal(Signal::SIGTERM);
    let mut said = BufReader::new(served.child.stderr.as_mut().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("a second signal ends at once"), "{line}");
    served.signal(Signal::SIGTERM);
    assert_eq!(served.ended().0, Some(4));
}

/// The thread that hears signals reported the drain on standard error, and panicked where that was
/// closed. The server heard no later signal either.
#[test]
fn a_server_whose_standard_error_is_closed_still_ends() {
    let place = Place::new();
    let mut served = Served::new(&place, &[], &[]);
    drop(served.child.stderr.take());
    served.signal(Signal::SIGTERM);
    assert_eq!(served.ended().0, Some(0));
}

#[test]
fn the_command_line_comes_before_the_environment_and_that_before_the_file() {
    let place = Place::new();
    let config = place.write("server.toml", "http = \"127.0.0.2:0\"\nflight = \"off\"\n");
    let config = config.to_str().unwrap();
    let served = Served::new(&place, &["--config", config, "--flight", "off"], &[]);
    assert!(served.lines[0].starts_with("HTTP    http://127.0.0.1:"), "{:?}", served.lines);
    assert_eq!(served.lines.len(), 2, "{:?}", served.lines);
}

#[test]
fn a_setting_that_there_is_not_is_named() {
    let place = Place::new();
    let config = place.write("server.toml", "idle_time = \"5s\"\n");
    let run = place.run(&["serve", "--create", "--config", config.to_str().unwrap()]);
    run.ends(3).says(&["server.toml", "idle_time"]);
}

#[test]
fn an_address_that_others_reach_is_refused_without_users() {
    let place = Place::new();
    let run = place.run(&["serve", "--create", "--flight", "0.0.0.0:0"]);
    run.ends(3).says(&["0.0.0.0:0", "insecure"]);
    assert!(!place.path("S").exists(), "nothing is made before the settings are right");
}

#[test]
fn systemd_hears_that_the_server_is_ready_and_that_it_ends() {
    let place = Place::new();
    let path = place.path("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let served = Served::new(&place, &[], &[("NOTIFY_SOCKET", path.to_str().unwrap())]);
    let heard = || {
        let mut buffer = [0; 64];
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    assert_eq!(heard(), "READY=1");
    served.signal(Signal::SIGTERM);
    assert_eq!(heard(), "STOPPING=1");
    assert_eq!(served.ended().0, Some(0));
}

/// Once a server that was killed would have left a file in the way of the next.
#[test]
fn a_unix_socket_is_taken_over_from_a_server_that_was_killed() {
    let place = Place::new();
    let socket = place.path("http.sock");
    let listen = format!("unix:{}", socket.display());
    let mut served = Served::new(&place, &["--http", &listen], &[]);
    // It was printed as http://unix:, which no client takes.
    assert_eq!(served.lines[0], format!("HTTP    {listen}"));
    let asked = served.lines.iter().find(|line| line.contains("curl")).unwrap();
    let path = socket.display();
    assert_eq!(asked.trim(), format!("curl --unix-socket {path} http://localhost/health/ready"));
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    assert!(socket.exists());
    let served = Served::new(&place, &["--http", &listen], &[]);
    assert_eq!(served.lines.last().unwrap(), "ready");
    let other = Place::new();
    other.run(&["serve", "--create", "--http", &listen]).ends(3).says(&["a server listens there"]);
    // A store was created for nothing, and before that the file of users was read.
    assert!(!other.path("S").exists());
    for wrong in [["--users", "nowhere.toml"], ["--audit", "nowhere/audit.log"]] {
        other.run(&[["serve", "--create"], wrong].concat()).ends(3).says(&["nowhere"]);
        assert!(!other.path("S").exists());
    }
    served.signal(Signal::SIGTERM);
    assert_eq!(served.ended().0, Some(0));
    assert!(!socket.exists());
}

/// Once such a file stayed unnoticed until a reload was asked for.
#[test]
fn a_file_of_users_that_breaks_is_told_once() {
    let place = Place::new();
    let users = place.write("users.toml", "[[user]]\nname = \"ann\"\n");
    let served = Served::new(&place, &["--users", users.to_str().unwrap()], &[]);
    place.write("users.toml", "[[user]\nname =");
    // It is looked at every 5 seconds.
    std::thread::sleep(Duration::from_secs(13));
    served.signal(Signal::SIGTERM);
    let (code, said) = served.ended();
    assert_eq!(code, Some(0), "{said}");
    let told: Vec<_> = said.lines().filter(|line| line.contains("cannot be used")).collect();
    assert!(told.len() == 1 && told[0].contains("users.toml"), "{said}");
}
