//! The answer to a request of a multi-get.

use tonnage_engine::Result;

use super::super::TableBatch;

/// What came of a request, by its number.
pub(super) type RequestAnswer = (usize, Result<TableBatch>);
