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

/// Which expiry gives way to a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExpiryRule {
    /// Only where there is none.
    pub(crate) if_none: bool,
    /// Only where there is one.
    pub(crate) if_any: bool,
    /// Only a later one.
    pub(crate) if_later: bool,
    /// Only an earlier one.
    pub(crate) if_earlier: bool,
}
