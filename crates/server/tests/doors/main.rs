//! Both doors over real sockets on loopback.

mod bulk_get;
mod bulk_put;
mod frame;
mod http;
mod support;
mod tls;
mod torn;
