//! The protocol and the commands of Redis, over the pairs of a [`Store`](tonnage::Store).
//!
//! There are no sockets here and nothing is asynchronous: bytes of [clients](Client) go in, and
//! bytes for them come out.
//!
//! ```
//! # fn main() -> tonnage::Result<()> {
//! use tonnage_resp::{Client, ClientAccess, ClientLimits, Executor, Keyspace, SyncPolicy};
//!
//! let store = tonnage::Store::open("memory:")?;
//! let keyspace = Keyspace::new(store, SyncPolicy::EverySecond, false);
//! let mut executor = Executor::new(keyspace.clone());
//! let (here, access) = (String::from("127.0.0.1:1"), ClientAccess::Everything);
//! let mut clients =
//!     [Client::new(&keyspace, here.clone(), here, access, ClientLimits::default())];
//! clients[0].receive(b"SET greeting hello\r\nGET greeting\r\n");
//! executor.run(&mut clients);
//! assert_eq!(clients[0].output(), b"+OK\r\n$5\r\nhello\r\n");
//! # Ok(())
//! # }
//! ```
//!
//! | module | what |
//! |---|---|
//! | `protocol` | commands from bytes, replies to bytes; limits, numbers, patterns |
//! | `command` | the table of commands |
//! | `execute` | what carries them out, many of many clients together |
//! | `client`, `client_list`, `access` | a client, all clients, and what they may do |
//! | `keyspace` | what all clients share |
//! | `outside_call` | commands that the owner of a client carries out |
//! | `channels`, `subscriptions`, `mail` | messages between clients, and where they wait until they are taken |
//! | `waits`, `wait_answer` | clients that wait for an element |
//! | `leftovers`, `leftover_search` | deletes members that belong to no collection any more |
//! | `values` | what kinds of values are stored, and the forms of collections |
//! | `bits`, `bit_fields` | values as rows of bits, and numbers in them |

mod access;
mod bit_fields;
mod bits;
mod channels;
mod client;
mod client_list;
mod command;
mod execute;
mod keyspace;
mod leftover_search;
mod leftovers;
mod mail;
mod outside_call;
mod protocol;
mod subscriptions;
mod values;
mod wait_answer;
mod waits;

pub use access::{ClientAccess, KeyRight, UserAccess};
pub use client::{Client, LoginRequest};
pub use client_list::ClientCard;
pub use execute::{Executor, RunReport, store_error};
pub use keyspace::{ClientExchange, Keyspace, SyncPolicy};
pub use mail::ClientWaker;
pub use outside_call::OutsideCall;
pub use protocol::{
    ArgumentSpan, ClientLimits, CommandReader, Decimal, Protocol, ProtocolError, ReadStep,
    ReplyWriter, glob_matches, parse_integer,
};
