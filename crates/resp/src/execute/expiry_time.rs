//! When a value expires from now on.

/// When a value expires from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewExpiry {
    /// Never.
    Never,
    /// As before.
    Kept,
    /// At this time, in milliseconds since 1970.
    At(u64),
}

/// Why the number of an expiry is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpiryRefusal {
    NotAnInteger,
    Invalid,
}
