//! Sockets.

mod accept;
mod begun;
mod body_end;
mod socket;
mod tls;

pub(crate) use accept::Acceptor;
pub(crate) use body_end::{BodyEnd, WatchedBody};
pub(crate) use socket::Socket;
pub(crate) use tls::acceptor;
