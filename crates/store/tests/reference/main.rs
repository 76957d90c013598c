//! What the tests and documents of Oracle NoSQL Database and of GridDB ask of bulk calls, as cases
//! of this store. Each file is one of their sources, and each case is named after its origin: the
//! rules are theirs, the code is not.
//!
//! What cannot be said in this store's API, and so has no case here: `fetchAll` of queries that name
//! no table, and sampling functions (`TIME_AVG`, `TIME_NEXT`, `TIME_INTERPOLATED`), which are for
//! SQL; namespaces; `usePutResolve` and regions; shard failures; null streams and keys.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/here.rs"]
mod elsewhere;

mod griddb_multi_calls;
mod oracle_bulk_get_test;
mod oracle_bulk_put_test;
mod oracle_bulk_table_test;
mod oracle_execute_test;
mod oracle_multi_key_test;
mod oracle_pair_scan_test;
mod oracle_table_bulk_get_test;
mod oracle_table_evolve_test;
mod oracle_table_multi_get_test;
mod oracle_table_multi_row_options_test;
mod oracle_table_test;
mod oracle_ttl_test;
mod users;
