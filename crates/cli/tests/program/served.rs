//! A server that runs beside a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::Place;

/// A server on free ports.
pub(crate) struct Served {
    pub(crate) child: Child,
    http: String,
    pub(crate) lines: Vec<String>,
}

impl Served {
    pub(crate) fn new(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let all = [&["serve", "--create"], arguments].concat();
        let mut command = place.command(&all);
        command
            .env("TONNAGE_HTTP", "127.0.0.1:0")
            .env("TONNAGE_FLIGHT", "127.0.0.1:0")
            .envs(variables.iter().copied());
        Self::of_command(&mut command, |line| line == "ready")
    }

    /// The server that a demo ends with.
    pub(crate) fn demo(place: &Place, arguments: &[&str]) -> Self {
        let all = [&["demo", "--serve", "127.0.0.1:0"], arguments].concat();
        Self::of_command(&mut place.command(&all), |line| line.starts_with("Ctrl-C"))
    }

    /// Starts a program, and reads its lines until it listens.
    fn of_command(command: &mut Command, is_last: fn(&str) -> bool) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
            let is_last = is_last(&line);
            lines.push(line);
            if is_last {
                break;
            }
        }
        let http = lines.iter().find_map(|line| line.split_once("http://"));
        let http = http.and_then(|(_, address)| address.split('/').next()).unwrap_or_default();
        Self { http: http.to_owned(), child, lines }
    }

    pub(crate) fn request(&self, request: &str, body: &str) -> String {
        let mut socket = TcpStream::connect(&self.http).unwrap();
        let length = body.len();
        write!(
            socket,
            "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The address of the Flight listener.
    pub(crate) fn flight(&self) -> &str {
        self.lines.iter().find_map(|line| line.strip_prefix("Flight  ")).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
    }

    /// The exit code, and what was said on standard error.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut said).unwrap();
        }
        (code, said)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
