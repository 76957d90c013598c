//! Tonnage over the network.
//!
//! A [`Server`] opens two listeners on one [`Store`](tonnage::Store):
//!
//! | listener | port | for |
//! |---|---|---|
//! | Arrow Flight | 7411 | Flight SQL; bulk puts, bulk gets, scans: record batches in and out |
//! | HTTP | 7410 | single rows and pairs, definitions, health, metrics |
//!
//! The store blocks, so every call of it runs on a thread of the blocking pool. Only bounded
//! queues of data lie between these threads and the network's.
//!
//! | module | what |
//! |---|---|
//! | `config` | flags, file and environment, merged into one [`Config`] |
//! | `address`, `service_manager` | where it listens; what systemd hears of it |
//! | `listen` | sockets, TLS, limits of connections; how the body of a request ended |
//! | `drain` | the phases of a server that ends |
//! | `auth` | users, what they may do, who calls, the audit log |
//! | `admit`, `jobs` | who may load now, and the loads that run |
//! | `budget`, `held_body`, `spool` | bytes in memory and on the disk that calls share |
//! | `statements`, `prepared`, `sessions` | statements that run, those that are kept, their options |
//! | `table_cuts` | how tables are cut into the parts of scans |
//! | `flight`, `http` | the two listeners |
//! | `query`, `json_value` | statements, and values of columns, as JSON |
//! | `random` | names that nobody guesses |
//! | `error`, `metrics` | errors as each protocol tells them; what is counted |

mod address;
mod admission;
mod auth;
mod budget;
mod config;
mod context;
mod counted_body;
mod drain;
mod error;
mod flight;
mod http;
mod jobs;
mod json_value;
mod listen;
mod metrics;
mod prepared;
mod query;
mod random;
mod reload;
mod request_id;
mod server;
mod service_manager;
mod sessions;
mod spool;
mod statements;
mod table_cuts;
mod tls;

pub use address::Address;
pub use auth::hash_password;
pub use config::{Config, Settings};
pub use server::{Addresses, Server, Stop};
