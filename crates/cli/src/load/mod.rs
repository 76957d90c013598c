//! What the loading verbs share: files in, streams of entries out.
//!
//! 1. [`FileInput::prepare`] opens every file once and holds its columns against what is wanted, so
//!    that what cannot work is said before anything is written.
//! 2. A [`FileStream`] reads one file for the bulk put. It keeps the batch that is under way, so
//!    that [`Failures`] can find the original text of an entry that is refused further on.
//! 3. With a [`Mapping`], rows are computed of records, and records are left out, on the way.
//! 4. [`JobArgs::run`] runs the bulk put, shows its progress, keeps the [`ResumeFile`], and writes
//!    the [`LoadSummary`].

mod destinations;
mod failures;
mod field_names;
mod fingerprint;
mod input;
mod job;
mod mapping;
mod reject_files;
mod resume;
mod stream;
mod summary;
mod wording;

pub(crate) use failures::Failures;
pub(crate) use input::{FileInput, records_hint};
pub(crate) use job::JobArgs;
pub(crate) use mapping::{Mapping, RowMapping, storable};
pub(crate) use stream::{FileStream, LoadTarget};
pub(crate) use summary::LoadSummary;
