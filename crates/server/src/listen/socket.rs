//! The sockets of listeners: TCP, and Unix sockets.
//!
//! The file of a Unix socket outlives a server that was killed. A new server connects to it first.
//! If no server listens there, it replaces the file.

use std::fs::{Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as BlockingUnixStream;
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tonnage::{Error, Result};

use crate::address::Address;
use crate::metrics::ListenerKind;

/// Those of the server's user and group may connect.
const SOCKET_MODE: u32 = 0o660;

/// A socket that listens.
pub(crate) enum ListenerSocket {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

/// A connection that came in.
pub(crate) enum Incoming {
    Tcp(TcpStream, IpAddr),
    Unix(UnixStream),
}

/// The file of a Unix socket; it is removed with the server.
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and number of the file that this server created.
    made: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another server may have put its own there.
        let found = std::fs::symlink_metadata(&self.path).ok();
        if found.is_some_and(|found| identity(&found) == self.made) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl ListenerSocket {
    /// Binds the address of a listener. Called inside the runtime.
    ///
    /// # Errors
    /// `Unavailable`, with the address and what the system says.
    pub(crate) async fn bind(listener: ListenerKind, address: &Address) -> Result<ListenerSocket> {
        let bound = match address {
            Address::Tcp(address) => TcpListener::bind(address).await.map(ListenerSocket::Tcp),
            Address::Unix(path) => bind_unix(path),
        };
        bound.map_err(|error| {
            Error::unavailable(format!(
                "{listener:?} cannot listen on {address}: {error}: choose another address with \
                 --{listener:?}"
            ))
        })
    }

    /// Where it listens; a port of 0 is the one that was free.
    pub(crate) fn address(&self) -> Option<Address> {
        match self {
            ListenerSocket::Tcp(socket) => socket.local_addr().ok().map(Address::Tcp),
            ListenerSocket::Unix(_, file) => Some(Address::Unix(file.path.clone())),
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<Incoming> {
        match self {
            ListenerSocket::Tcp(socket) => {
                let (stream, peer) = socket.accept().await?;
                // An answer of a few bytes is not to wait for the next one.
                let _ = stream.set_nodelay(true);
                Ok(Incoming::Tcp(stream, peer.ip()))
            }
            ListenerSocket::Unix(socket, _) => Ok(Incoming::Unix(socket.accept().await?.0)),
        }
    }
}

impl Incoming {
    /// Where it comes from; nothing where all come from this machine.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        match self {
            Incoming::Tcp(_, peer) => Some(*peer),
            Incoming::Unix(_) => None,
        }
    }
}

fn bind_unix(path: &Path) -> io::Result<ListenerSocket> {
    remove_stale(path)?;
    let socket = UnixListener::bind(path)?;
    let made = identity(&std::fs::symlink_metadata(path)?);
    let file = SocketFile { path: path.to_owned(), made };
    std::fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE))?;
    Ok(ListenerSocket::Unix(socket, file))
}

/// Removes the file of a socket without a listener.
fn remove_stale(path: &Path) -> io::Result<()> {
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !found.file_type().is_socket() {
        return Err(io::Error::other("there is a file that is not a socket"));
    }
    match BlockingUnixStream::connect(path) {
        Ok(_) => Err(io::Error::other("a server listens there")),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        Err(error) => Err(error),
    }
}
