//! Load sessions. (Written apart from the rest of this crate.)

use tonnage_engine::{Error, LoadOptions, LoadSession, Result};

use crate::RocksEngine;

pub(crate) fn open_session(_engine: &RocksEngine, _options: LoadOptions) -> Result<Box<dyn LoadSession + '_>> {
    Err(Error::unsupported("load sessions are not built in"))
}
