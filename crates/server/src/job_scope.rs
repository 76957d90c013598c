//! Which jobs and statements a caller may see.

/// Whose jobs are meant.
#[derive(Clone, Debug)]
pub(crate) enum JobScope {
    All,
    /// Those with streams of this user alone.
    Of(Option<String>),
}

impl JobScope {
    /// Whether a job of these users belongs to it.
    pub(crate) fn covers(&self, users: &[Option<String>]) -> bool {
        match self {
            Self::All => true,
            Self::Of(user) => !users.is_empty() && users.iter().all(|other| other == user),
        }
    }
}
