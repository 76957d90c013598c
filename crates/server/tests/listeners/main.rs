//! All listeners over real sockets on loopback.

mod bounds;
mod browser_guard;
mod bulk_get;
mod bulk_put;
mod call_rights;
mod console;
mod events;
mod exchange;
mod fetch_all;
mod frame;
mod guarded;
mod health;
mod http;
mod http_sql;
mod ingest;
mod jobs;
mod lobs;
mod logins;
mod maintenance;
mod metadata;
mod nosql;
mod pair_list;
mod prepared;
mod preview;
mod redis;
mod related;
mod reports;
mod request_id;
mod security;
mod shared_load;
mod single;
mod spool;
mod sql;
mod statement_list;
mod statement_rights;
#[path = "../../../store/tests/behaviour/stepped.rs"]
#[allow(dead_code, reason = "only writes are waited for here")]
mod stepped;
mod support;
mod table_scan;
mod tls;
mod torn;
mod unix;
mod values;
mod within;
mod write_timeouts;
