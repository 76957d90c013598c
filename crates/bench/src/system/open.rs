//! Makes a system of its specification.

use tonnage::Result;

use super::embedded::Embedded;
use super::raw::Raw;
use super::remote::Remote;
use super::{System, SystemKind, SystemSpec};

impl SystemSpec {
    /// Makes it, empty; a directory that holds something is refused.
    pub fn open(&self) -> Result<Box<dyn System>> {
        if self.kind != SystemKind::TonnageMemory {
            self.claim_directory()?;
        }
        Ok(match self.kind {
            SystemKind::TonnageRocksDb | SystemKind::TonnageMemory => {
                Box::new(Embedded::open(self)?)
            }
            SystemKind::TonnageRemote => Box::new(Remote::open(self)?),
            SystemKind::RocksDb => Box::new(Raw::open(self)?),
        })
    }
}
