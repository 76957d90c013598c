//! What the store does, as its users see it, on nodes of Cassandra: the tests of `crates/store`, each
//! on a keyspace of its own.
//!
//! Left out are those of stores in folders: how they open, their crashes, and what watches them.

#[path = "../cluster/mod.rs"]
#[allow(dead_code, reason = "nodes are not killed here")]
mod cluster;
mod elsewhere;
mod limits;

#[path = "../../../store/tests/common/mod.rs"]
mod common;

#[path = "../../../store/tests/behaviour/bulk_get/mod.rs"]
mod bulk_get;
#[path = "../../../store/tests/behaviour/bulk_put/mod.rs"]
mod bulk_put;
#[path = "../../../store/tests/behaviour/deadlines.rs"]
mod deadlines;
#[path = "../../../store/tests/reference/griddb_multi_calls.rs"]
mod griddb_multi_calls;
#[path = "../../../store/tests/behaviour/index/mod.rs"]
mod index;
#[path = "../../../store/tests/behaviour/kv.rs"]
mod kv;
#[path = "../../../store/tests/lob/model.rs"]
mod lob_model;
#[path = "../../../store/tests/lob/rules.rs"]
mod lob_rules;
#[path = "../../../store/tests/behaviour/multi_get.rs"]
mod multi_get;
#[path = "../../../store/tests/behaviour/multi_put.rs"]
mod multi_put;
#[path = "../../../store/tests/reference/oracle_bulk_get_test.rs"]
mod oracle_bulk_get_test;
#[path = "../../../store/tests/reference/oracle_bulk_put_test.rs"]
mod oracle_bulk_put_test;
#[path = "../../../store/tests/reference/oracle_bulk_table_test.rs"]
mod oracle_bulk_table_test;
#[path = "../../../store/tests/reference/oracle_execute_test.rs"]
mod oracle_execute_test;
#[path = "../../../store/tests/reference/oracle_multi_key_test.rs"]
mod oracle_multi_key_test;
#[path = "../../../store/tests/reference/oracle_pair_scan_test.rs"]
mod oracle_pair_scan_test;
#[path = "../../../store/tests/reference/oracle_table_bulk_get_test.rs"]
mod oracle_table_bulk_get_test;
#[path = "../../../store/tests/reference/oracle_table_evolve_test.rs"]
mod oracle_table_evolve_test;
#[path = "../../../store/tests/reference/oracle_table_multi_get_test.rs"]
mod oracle_table_multi_get_test;
#[path = "../../../store/tests/reference/oracle_table_multi_row_options_test.rs"]
mod oracle_table_multi_row_options_test;
#[path = "../../../store/tests/reference/oracle_table_test.rs"]
mod oracle_table_test;
#[path = "../../../store/tests/reference/oracle_ttl_test.rs"]
mod oracle_ttl_test;
#[path = "../../../store/tests/behaviour/table/mod.rs"]
mod table;
#[path = "../../../store/tests/reference/users.rs"]
mod users;
