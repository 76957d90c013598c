//! The names of the one catalog and its one schema.

pub(super) const CATALOG: &str = "tonnage";
pub(super) const SCHEMA: &str = "public";
