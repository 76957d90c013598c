//! The query language: statements as text, what they mean, and what they do to the store.
//!
//! | module | what |
//! |---|---|
//! | `syntax` | text as trees |
//! | `item` | values of queries: kinds, order, forms |
//! | `evaluate` | what expressions give for a row |
//! | `plan` | names found, groups checked, ways to the rows |
//! | `run` | statements carried out, a part at a time |

pub(crate) mod evaluate;
pub(crate) mod item;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod syntax;
