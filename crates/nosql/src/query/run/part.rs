//! A part of an answer, and what is asked for with it.

use std::sync::Arc;

use tonnage::Table;

use super::cursors::Cursors;
use crate::query::evaluate::Evaluator;
use crate::query::item::Item;
use crate::wire::Call;

/// How much one part may have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartLimits {
    /// Rows of the answer.
    pub(crate) rows: Option<usize>,
    /// Kilobytes that are read. A row counts as one at least.
    pub(crate) read_kb: Option<usize>,
}

/// A statement that is carried out.
pub(crate) struct QueryCall<'c> {
    pub(crate) call: &'c Call<'c>,
    pub(crate) table: &'c Table,
    /// The further tables of a SELECT, in the order of the statement.
    pub(crate) joined: &'c [Table],
    pub(crate) evaluator: Evaluator,
    pub(crate) limits: PartLimits,
    /// The position where the client continues.
    pub(crate) continuation: Option<&'c [u8]>,
    /// The statement and the values of its variables, which a kept answer belongs to.
    pub(crate) identity: String,
    pub(crate) cursors: &'c Cursors,
}

/// Rows of an answer: names, and the values of each row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub(crate) names: Arc<[Arc<str>]>,
    pub(crate) rows: Vec<Arc<[Item]>>,
    /// Where to continue, if there is more.
    pub(crate) continuation: Option<Vec<u8>>,
}

impl Output {
    /// A single value.
    pub(crate) fn single(name: &str, item: Item) -> Self {
        let names: Arc<[Arc<str>]> = Arc::from([Arc::from(name)]);
        Self { names, rows: vec![Arc::from([item])], continuation: None }
    }
}
