//! Tonnage over the network.
//!
//! A [`Server`] opens two doors on one [`Store`](tonnage::Store):
//!
//! | door | port | for |
//! |---|---|---|
//! | Arrow Flight | 7411 | bulk puts, bulk gets, scans: record batches in and out |
//! | HTTP | 7410 | single rows and pairs, definitions, health, metrics |
//!
//! The store blocks, so every call of it runs on a thread of the blocking pool. Only bounded
//! queues of data lie between these threads and the network's.
//!
//! | module | what |
//! |---|---|
//! | `config` | flags, file and environment, merged into one [`Config`] |
//! | `listen` | sockets, TLS, limits of connections; how the body of a request ended |
//! | `drain` | the phases of a server that ends |
//! | `admit`, `jobs` | who may load now, and the loads that run |
//! | `flight`, `http` | the two doors |
//! | `json_value` | JSON values as values of columns |
//! | `error`, `metrics` | errors as each protocol tells them; what is counted |

mod admit;
mod config;
mod context;
mod drain;
mod error;
mod flight;
mod http;
mod jobs;
mod json_value;
mod listen;
mod metrics;
mod server;

pub use config::{Config, Settings};
pub use server::{Addresses, Server, Stop};
