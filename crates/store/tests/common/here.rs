//! Stores of tests are in memory or in a folder. A program that runs these tests on other stores has
//! a module of this name that opens them.

use std::sync::Arc;

use tonnage::{Clock, Store};

pub(crate) fn store(_: &Arc<dyn Clock>) -> Option<Store> {
    None
}
