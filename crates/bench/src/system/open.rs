//! Makes a system of its specification.

use tonnage::Result;

use super::embedded::Embedded;
use super::kind::SystemKind;
use super::raw::Raw;
use super::redis::Redis;
use super::remote::Remote;
use super::{System, SystemSpec, Target};

impl SystemSpec {
    /// Makes it, empty; a directory that holds something is refused, and so is a server that holds
    /// data of a benchmark.
    pub fn open(&self) -> Result<Box<dyn System>> {
        if self.target.is_on_disk() {
            self.claim_directory()?;
        }
        Ok(match &self.target {
            Target::System(SystemKind::TonnageRocksDb | SystemKind::TonnageMemory) => {
                Box::new(Embedded::open(self)?)
            }
            Target::System(SystemKind::TonnageRemote) => Box::new(Remote::on_loopback(self)?),
            Target::System(SystemKind::RocksDb) => Box::new(Raw::open(self)?),
            Target::Flight(address) => Box::new(Remote::connect(self, address)?),
            Target::Redis(address) => Box::new(Redis::connect(self, address)?),
        })
    }
}
