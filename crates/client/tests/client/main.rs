//! The client against a server in process.

mod broken;
mod bulk_get;
mod bulk_put;
mod connect;
mod example;
#[cfg(target_os = "linux")]
mod few_threads;
mod lob;
mod maintenance;
mod pipeline;
mod related;
mod single;
mod sql;
mod support;
mod surface;
mod write;
