//! What the loading verbs share: files in, streams of entries out.
//!
//! 1. [`FileInput::prepare`] opens every file once and checks its columns, so that a load that
//!    cannot work fails before anything is written.
//! 2. A [`FileStream`] reads one file for the bulk put. It keeps the current batch, so that
//!    [`FailureReporter`] finds the original text of an entry that the store refuses.
//! 3. A [`Mapping`] computes rows from records on the way, and filters records.
//! 4. [`JobArgs::run`] runs the bulk put, shows its progress, keeps the [`ResumeFile`], and writes
//!    the [`LoadSummary`].

mod destinations;
mod error_wording;
mod failure_reporter;
mod field_names;
mod fingerprint;
mod input;
mod job;
mod mapping;
mod option_names;
mod reject_files;
mod resume;
mod stream;
mod summary;

pub(crate) use failure_reporter::FailureReporter;
pub(crate) use input::{FileInput, records_hint};
pub(crate) use job::JobArgs;
pub(crate) use mapping::{Mapping, RowMapping, storable};
pub(crate) use option_names::with_header_option;
pub(crate) use stream::{FileStream, LoadTarget};
pub(crate) use summary::LoadSummary;
