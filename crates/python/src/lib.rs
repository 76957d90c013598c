//! Tonnage in Python: the extension module `tonnage._tonnage`.
//!
//! It is thin. It opens stores, turns Python's values into Tonnage's and back, and passes record
//! batches through Arrow's C interface. What users call is in `python/tonnage`, in Python, on top
//! of it.
//!
//! 1. The interpreter's lock is never held while the store works: every call into the store is
//!    detached, and threads of the store attach for a batch of rows, not for each.
//! 2. Classes are frozen and lock inside, so that any thread may use them.
//! 3. A store that was opened before a fork is dead in the child ([`handle`]).

mod adbc;
mod arrow_in;
mod arrow_out;
mod arrow_rows;
mod batch_iterator;
mod batches;
mod bulk_put;
mod connect_arguments;
mod definition;
mod error;
mod handle;
mod key;
mod key_value;
mod null_arrays;
mod pipeline;
mod python_rows;
mod read_options;
mod record_cells;
mod remote_sql;
mod sql;
mod sql_answer;
mod store;
mod table;
mod value;
mod write_options;

use pyo3::prelude::*;

/// The native part of the package `tonnage`. Not for use by itself.
#[pymodule]
mod _tonnage {
    #[pymodule_export]
    use crate::batches::{Batches, RecordBatch, TableBatches};
    #[pymodule_export]
    use crate::bulk_put::Cancel;
    #[pymodule_export]
    use crate::handle::mark_forked;
    #[pymodule_export]
    use crate::pipeline::Pipeline;
    #[pymodule_export]
    use crate::sql::Prepared;
    #[pymodule_export]
    use crate::store::Store;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
