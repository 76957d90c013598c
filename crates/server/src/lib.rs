//! Tonnage over the network.
//!
//! A [`Server`] opens listeners on one [`Store`](tonnage::Store):
//!
//! | listener | port | for |
//! |---|---|---|
//! | Arrow Flight | 7411 | Flight SQL; bulk puts, bulk gets, scans: record batches in and out |
//! | HTTP | 7410 | single rows and pairs, definitions, health, metrics |
//! | Redis | off | pairs, for programs that speak the protocol of Redis |
//! | NoSQL | off | rows, for programs that use the SDKs of Oracle NoSQL Database |
//!
//! The store blocks, so each of its calls runs on a thread of the blocking pool. Only bounded
//! queues lie between these threads and those of the network.
//!
//! | module | what |
//! |---|---|
//! | `config` | flags, file and environment, merged into one [`Config`] |
//! | `address`, `service_manager` | addresses of listeners; notifications for systemd |
//! | `listen` | sockets, TLS, limits of connections, how the body of a request ended |
//! | `drain` | the phases in which a server shuts down |
//! | `browser_guard` | what pages of other origins may not ask for |
//! | `auth` | users and their rights, logins, the audit log |
//! | `admission`, `jobs` | limits of loads, streams and calls; the loads that run |
//! | `budget`, `counted_body`, `spool` | limits of memory and disk space that calls share |
//! | `statements`, `prepared`, `sessions` | running and prepared statements, session options |
//! | `table_cuts` | the parts that tables are cut into for scans |
//! | `flight`, `http`, `redis`, `nosql` | the listeners |
//! | `query`, `json_value`, `json_error`, `unique_members` | statements, values of columns and objects as JSON |
//! | `fetch_all` | many statements of one call |
//! | `random` | random names |
//! | `error`, `metrics` | errors in each protocol; metrics |

mod address;
mod admission;
mod audit_tail;
mod auth;
mod browser_guard;
mod budget;
mod config;
mod context;
mod counted_body;
mod drain;
mod error;
mod error_position;
mod fetch_all;
mod flight;
mod http;
mod job_rejects;
mod job_scope;
mod jobs;
mod json_error;
mod json_value;
mod listen;
mod live_statement;
mod metrics;
mod nosql;
mod prepared;
mod query;
mod random;
mod redis;
mod reload;
mod request_id;
mod server;
mod service_manager;
mod sessions;
mod spool;
mod statements;
mod table_cuts;
mod tls;
mod unique_members;

pub use address::Address;
pub use auth::hash_password;
pub use browser_guard::HostName;
pub use config::{Config, Settings};
pub use server::{Addresses, BoundListeners, Server, ShutdownHandle};
