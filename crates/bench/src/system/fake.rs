//! A system for tests of what stands around systems: it keeps nothing and offers gauges alone.

use std::sync::atomic::{AtomicBool, Ordering};

use tonnage::{Error, Result};

use super::{
    BulkDone, BulkOptions, Client, Feature, Gauges, GetKeys, PutInput, RecordShape, System,
};

#[derive(Default)]
pub(crate) struct FakeTarget {
    pub(crate) stalled: AtomicBool,
    pub(crate) gauges_fail: bool,
}

impl FakeTarget {
    pub(crate) const DISK_BYTES: u64 = 12_345;
}

impl System for FakeTarget {
    fn name(&self) -> &str {
        "fake"
    }
    fn settings(&self) -> Vec<(String, String)> {
        Vec::new()
    }
    fn offers(&self, _feature: Feature) -> bool {
        false
    }
    fn create_records(&self, _shape: &RecordShape) -> Result<()> {
        Err(self.unsupported("records"))
    }
    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Err(self.unsupported("clients"))
    }
    fn bulk_put(&self, _: PutInput, _: &BulkOptions<'_>) -> Result<BulkDone> {
        Err(self.unsupported("puts"))
    }
    fn bulk_get(&self, _: GetKeys, _: &BulkOptions<'_>) -> Result<BulkDone> {
        Err(self.unsupported("gets"))
    }
    fn sync(&self) -> Result<()> {
        Ok(())
    }
    fn settle(&self) -> Result<()> {
        Ok(())
    }
    fn gauges(&self) -> Result<Gauges> {
        if self.gauges_fail {
            return Err(Error::unavailable("no gauges"));
        }
        let stalled = self.stalled.load(Ordering::Relaxed);
        Ok(Gauges { disk_bytes: Self::DISK_BYTES, stalled, ..Gauges::default() })
    }
}
