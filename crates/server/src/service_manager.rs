//! Tells systemd (`Type=notify`) that the server is ready, and that it stops.
//!
//! systemd names a datagram socket in `NOTIFY_SOCKET`, and reads lines such as `READY=1` from it.

use std::ffi::OsStr;
use std::io;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Where the manager listens, if there is one.
const SOCKET: &str = "NOTIFY_SOCKET";

/// The listeners take connections.
pub(crate) fn ready() {
    notify("READY=1");
}

/// The server drains.
pub(crate) fn stopping() {
    notify("STOPPING=1");
}

fn notify(state: &str) {
    let Some(socket) = std::env::var_os(SOCKET).filter(|socket| !socket.is_empty()) else { return };
    if let Err(error) = send(&socket, state) {
        eprintln!("tonnage: {SOCKET} cannot be told {state}: {error}");
    }
}

fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address(socket)?).map(drop)
}

/// A path, or after `@` a name that no file has.
fn address(socket: &OsStr) -> io::Result<SocketAddr> {
    match socket.as_bytes().split_first() {
        #[cfg(target_os = "linux")]
        Some((b'@', name)) => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(socket),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(manager: &UnixDatagram) -> String {
        let mut buffer = [0; 64];
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    #[test]
    fn a_manager_is_told_at_its_path() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str(), "READY=1").unwrap();
        assert_eq!(heard(&manager), "READY=1");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_manager_is_told_under_its_name() {
        let name = format!("tonnage-test-{}", std::process::id());
        let bound = SocketAddr::from_abstract_name(&name).unwrap();
        let manager = UnixDatagram::bind_addr(&bound).unwrap();
        send(OsStr::new(&format!("@{name}")), "STOPPING=1").unwrap();
        assert_eq!(heard(&manager), "STOPPING=1");
    }
}
