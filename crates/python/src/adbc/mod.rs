//! The driver for ADBC, exported from the same library: `tonnage_adbc_init`.
//!
//! A driver manager loads the library once more by its path and gets the one that is loaded. So a
//! connection may use a store that the package has open: by its number, in `tonnage.store`.

mod bind;
mod connection;
mod database;
mod error;
mod info;
mod ingest;
mod objects;
mod options;
mod reader;
mod shared;
mod statement;

pub(crate) use shared::share;

#[allow(missing_docs)]
mod export {
    use super::bind::ExportedDriver;

    adbc_ffi::export_driver!(tonnage_adbc_init, ExportedDriver);
}
