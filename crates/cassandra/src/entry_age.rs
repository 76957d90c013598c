//! How soon rows follow their index entries.
//!
//! Index entries are stored before their rows, in requests of their own. Cleaning of an index
//! leaves entries alone that are younger than an hour, since their rows may be in flight. So no row
//! may come an hour after its entry:
//!
//! - A writer whose entries are older than [`RENEWED_AFTER`] stores them again before it continues.
//! - A load never sends a row whose entries are older than [`FOLLOWED_WITHIN`].
//!
//! The rest of the hour is for requests under way, and for clocks.

use std::time::Duration;

/// Older entries are stored again before their rows are sent.
pub(crate) const RENEWED_AFTER: Duration = Duration::from_secs(300);

/// No row of a load is sent after entries older than this.
pub(crate) const FOLLOWED_WITHIN: Duration = Duration::from_secs(1_500);
