//! Listeners: sockets, TLS and connections.

mod accept;
mod body_end;
mod first_read;
mod lingering_close;
mod socket;
mod tls;

pub(crate) use accept::{Acceptor, AdmittedConnection};
pub(crate) use body_end::{BodyEnd, WatchedBody};
pub(crate) use socket::{Incoming, ListenerSocket};
pub(crate) use tls::acceptor;
