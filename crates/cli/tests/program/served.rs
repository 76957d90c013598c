//! A server that runs beside a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

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
        let mut child = command
            .env("TONNAGE_HTTP", "127.0.0.1:0")
            .env("TONNAGE_FLIGHT", "127.0.0.1:0")
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut told = Vec::new();
        for line in lines {
            told.push(line);
            if told.last().is_some_and(|line| line == "ready") {
                break;
            }
        }
        let http = told.iter().find_map(|line| line.strip_prefix("HTTP    http://"));
        Self { http: http.unwrap_or_default().to_owned(), child, lines: told }
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
