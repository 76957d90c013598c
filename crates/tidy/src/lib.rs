//! The house rules that a program can check. `make test` runs them as the tests of this crate.
//!
//! - [`dependencies`] says which crates a crate uses, and which it should.
//! - [`imports`] finds files of one crate that import each other in a circle.
//! - [`references`] finds what a page of Markdown refers to.
//! - [`sources`] lists the files of the repository.
//! - [`types`] lists the types of a file, whose names should be unique.

pub mod dependencies;
pub mod imports;
pub mod references;
pub mod sources;
pub mod tokens;
pub mod types;
