//! Tables: single rows, atomic writes, deletes, lives of rows, and DDL.

mod altered;
mod atomic;
mod ddl;
mod default_functions;
mod delete;
mod each;
mod exact_keys;
mod exact_values;
mod identity;
mod many;
mod records;
mod returning;
mod session;
mod ttl;
mod types;
mod writes;
