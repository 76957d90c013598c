//! Bare names, as SQL resolves them: in the innermost FROM that has a column of the name.
//!
//! The planner (DataFusion 55) looks for a bare name among all columns below. A column of USING or
//! NATURAL is there once for each side, so it is ambiguous to it in most clauses; and a name that
//! is ambiguous in a subquery silently becomes a column of the query around it. It also takes the
//! name of a table for a column of the same name that is further inside. So names are resolved
//! before planning, where the columns of all tables are known:
//!
//! 1. Inside out, each FROM lists its columns (`from.rs`, `visible.rs`): those of tables from the
//!    store, those of queries from their lists.
//! 2. Each join by USING or NATURAL gives the columns that it makes a table of their own
//!    (`upstream/using.rs`). A bare name of one of them becomes a column of that table
//!    (`naming.rs`).
//! 3. A bare name that several tables of the innermost FROM have is an error where the planner
//!    would look further outside.
//! 4. A name of ORDER BY that an alias hides becomes a key beside the list (`sorting.rs`).

mod from;
mod naming;
mod outputs;
mod resolver;
mod sorting;
mod stars;
mod visible;

pub(crate) use resolver::resolve;
