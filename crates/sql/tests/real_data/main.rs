//! Questions to real files, if they are at hand: in the folder that `TONNAGE_TEST_DATA` names, else
//! in `../shared/data` beside the repository. Every answer is held against one that plain Rust
//! computes over the lines of the file.

mod common;
mod documents;
mod phones;
mod sensors;
mod ships;
