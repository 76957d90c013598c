//! The versions that a session gives its entries.

/// The versions of one session in one shard, ascending: one taken when the session was opened, and one more by each flush, so
/// that a row that is loaded twice grows.
#[derive(Debug)]
pub(super) struct OwnVersions {
    versions: Vec<u64>,
}

impl OwnVersions {
    /// Starts with the version taken when the session was opened.
    pub(super) fn new(first: u64) -> Self {
        Self { versions: vec![first] }
    }

    /// Adds one that is greater than all before.
    pub(super) fn push(&mut self, version: u64) {
        self.versions.push(version);
    }

    /// Whether a stored row was written by someone else since the session was opened.
    pub(super) fn is_later(&self, stored: u64) -> bool {
        stored > self.versions[0] && self.versions.binary_search(&stored).is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_others_wrote_since_the_session_was_opened_is_later() {
        let mut own = OwnVersions::new(10);
        own.push(15);
        let later: Vec<u64> = (8..18).filter(|version| own.is_later(*version)).collect();
        assert_eq!(later, [11, 12, 13, 14, 16, 17]);
    }
}
