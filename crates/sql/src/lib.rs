//! SQL over a store.
pub use datafusion;
