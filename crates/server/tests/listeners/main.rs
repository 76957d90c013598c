//! Both listeners over real sockets on loopback.

mod bulk_get;
mod bulk_put;
mod events;
mod fetch_all;
mod frame;
mod health;
mod http;
mod http_sql;
mod ingest;
mod lobs;
mod maintenance;
mod metadata;
mod pair_list;
mod prepared;
mod related;
mod reports;
mod request_id;
mod security;
mod shared_load;
mod single;
mod spool;
mod sql;
mod support;
mod tls;
mod torn;
mod unix;
