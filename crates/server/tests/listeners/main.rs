//! Both listeners over real sockets on loopback.

mod bulk_get;
mod bulk_put;
mod events;
mod fetch_all;
mod frame;
mod http;
mod http_sql;
mod ingest;
mod metadata;
mod prepared;
mod request_id;
mod security;
mod single;
mod spool;
mod sql;
mod support;
mod tls;
mod torn;
