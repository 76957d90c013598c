//! The answer of a statement, for Python.

use pyo3::prelude::*;

use crate::batches::Batches;

/// The answer of a statement: rows, or a dict of counts, or what a definition did as text.
#[derive(IntoPyObject)]
pub(crate) enum SqlAnswer {
    Rows(Batches),
    Changed((u64, u64, u64, u64)),
    Done(String),
}
