//! What the tests and documents of Oracle NoSQL Database and of GridDB ask of bulk calls, as cases
//! of this store. Each file is one of their sources, and each case is named after its origin: the
//! rules are theirs, the code is not.
//!
//! What cannot be said in this store's API, and so has no case here: `fetchAll` of queries that name
//! no table, and sampling functions (`TIME_AVG`, `TIME_NEXT`, `TIME_INTERPOLATED`); a limit and a
//! continuation for deletes; the entry's values in the callback for existing keys; identity columns;
//! namespaces; `usePutResolve`; ENUM, FIXED_BINARY, MAP and RECORD columns.

#[path = "../common/mod.rs"]
mod common;

mod griddb_multi_calls;
mod oracle_bulk_get_test;
mod oracle_bulk_put_test;
mod oracle_execute_test;
mod oracle_multi_key_test;
mod oracle_table_multi_row_options_test;
mod oracle_ttl_test;
