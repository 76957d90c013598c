//! The Redis listener.
//!
//! 1. A task accepts connections, counts them, and hands each to one of the event loops in turn
//!    ([`listener`]). There is one for each core.
//! 2. A loop reads from all connections that have sent something, carries their commands out
//!    together (`tonnage-resp`), and sends the replies ([`event_loop`]). Calls of the store run on
//!    the loop's own thread: many of them cost less than one hop to another thread.
//! 3. Passwords are verified elsewhere: that takes 20 ms and more ([`login`]).
//! 4. SQL and rows of tables take long, too: other threads carry them out ([`table_calls`]).
//! 5. Memory for what clients send and leave unread is bounded for each and for all together
//!    ([`memory`]). Slow readers are closed.

mod connection;
mod event_loop;
mod inbox;
mod listener;
mod login;
mod memory;
mod socket;
mod table_calls;

pub(crate) use listener::{RedisLoops, start};
