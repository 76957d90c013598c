//! A connection's bytes: TCP or a Unix socket, with TLS or without.

use std::io::{self, ErrorKind, Read, Write};

use mio::event::Source;
use mio::{Interest, Registry, Token};
use tokio_rustls::rustls::ServerConnection;

/// A socket that does not block.
pub(super) enum ClientSocket {
    Tcp(mio::net::TcpStream),
    Unix(mio::net::UnixStream),
}

/// A socket with its TLS, if it has one.
pub(super) struct ClientStream {
    pub(super) socket: ClientSocket,
    pub(super) tls: Option<Box<ServerConnection>>,
}

/// What a read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadOutcome {
    /// So many bytes, and perhaps more.
    Some(usize),
    /// So many bytes, and nothing more for now.
    Last(usize),
    /// The client sends nothing more.
    End,
}

impl ClientSocket {
    fn source(&mut self) -> &mut dyn Source {
        match self {
            ClientSocket::Tcp(socket) => socket,
            ClientSocket::Unix(socket) => socket,
        }
    }

    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.source().register(registry, token, Interest::READABLE | Interest::WRITABLE)
    }

    pub(super) fn deregister(&mut self, registry: &Registry) {
        // It goes with the socket in any case.
        let _ = self.source().deregister(registry);
    }
}

impl Read for ClientSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            ClientSocket::Tcp(socket) => socket.read(buffer),
            ClientSocket::Unix(socket) => socket.read(buffer),
        }
    }
}

impl Write for ClientSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            ClientSocket::Tcp(socket) => socket.write(bytes),
            ClientSocket::Unix(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ClientStream {
    /// Reads what there is, as much as the buffer holds.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<ReadOutcome> {
        let Self { socket, tls } = self;
        match tls {
            None => read_plain(socket, buffer),
            Some(tls) => read_tls(socket, tls, buffer),
        }
    }

    /// Writes as much as the socket takes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { socket, tls } = self;
        let Some(tls) = tls else {
            return written_to(socket, bytes);
        };
        let mut written = 0;
        loop {
            // What it holds already goes first: it takes more only up to a limit of its own.
            if !flush_tls(socket, tls)? || written == bytes.len() {
                return Ok(written);
            }
            match tls.writer().write(&bytes[written..])? {
                0 => return Ok(written),
                more => written += more,
            }
        }
    }

    /// Whether bytes wait that only TLS knows of.
    pub(super) fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Tells the client that nothing more comes.
    pub(super) fn close(&mut self) {
        let Self { socket, tls } = self;
        if let Some(tls) = tls {
            tls.send_close_notify();
            // The socket goes either way.
            let _ = flush_tls(socket, tls);
        }
    }
}

fn read_plain(socket: &mut ClientSocket, buffer: &mut [u8]) -> io::Result<ReadOutcome> {
    loop {
        return match socket.read(buffer) {
            Ok(0) => Ok(ReadOutcome::End),
            // Less than was asked for: the kernel has no more, and tells when it has.
            Ok(read) if read < buffer.len() => Ok(ReadOutcome::Last(read)),
            Ok(read) => Ok(ReadOutcome::Some(read)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(ReadOutcome::Last(0)),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
    }
}

fn read_tls(
    socket: &mut ClientSocket,
    tls: &mut ServerConnection,
    buffer: &mut [u8],
) -> io::Result<ReadOutcome> {
    loop {
        match tls.reader().read(buffer) {
            Ok(0) => return Ok(ReadOutcome::End),
            Ok(read) => return Ok(ReadOutcome::Some(read)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        match tls.read_tls(socket) {
            Ok(0) => return Ok(ReadOutcome::End),
            Ok(_) => {
                let processed = tls.process_new_packets();
                // An alert tells the client what was wrong; the handshake continues here, too.
                flush_tls(socket, tls)?;
                processed.map_err(io::Error::other)?;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(ReadOutcome::Last(0)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether everything went out.
fn flush_tls(socket: &mut ClientSocket, tls: &mut ServerConnection) -> io::Result<bool> {
    while tls.wants_write() {
        match tls.write_tls(socket) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn written_to(socket: &mut ClientSocket, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match socket.write(&bytes[written..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(more) => written += more,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
