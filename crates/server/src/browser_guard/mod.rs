//! Keeps pages of other origins away from the listeners.
//!
//! A browser carries out simple requests of any page, also to `127.0.0.1`. It shows the page no
//! answer, but a statement has run by then. A page whose host name now leads to this server
//! (DNS rebinding) reads the answers, too. So the guard looks at what browsers tell of a request,
//! before anybody is logged in:
//!
//! | header | refused |
//! |---|---|
//! | `Sec-Fetch-Site` | all but `same-origin` and `none` |
//! | `Origin` | another host or port than those of `Host` |
//! | `Host` | without users: a name that is neither fixed nor in `http_hosts` |
//!
//! Programs send neither of the first two. Flight needs HTTP/2, which no browser speaks without
//! TLS: there a rebound name gets nowhere, and any name will do.

mod guard;
mod host_name;
mod web_origin;

pub(crate) use guard::{BrowserGuard, guard_flight, guard_http};
pub use host_name::HostName;
