//! The parameters of YCSB's core workload, typed.

use std::time::Duration;

use tonnage::{Error, Result};

use crate::choice::{choice, options};
use crate::system::RecordShape;

options! {
    /// The parameters of YCSB's core workload; the defaults are YCSB's.
    #[derive(PartialEq)]
    pub struct CoreOptions {
        /// `recordcount`: records in the table when the run phase begins.
        record_count: u64 = 1000,
        /// `operationcount`: operations of the run phase, warm-up included; 0 is without end, until
        /// the time is over.
        operation_count: u64 = 1000,
        /// `insertstart`: the number of the first record.
        insert_start: u64 = 0,
        /// `insertcount`: records that the load phase inserts; all from `insertstart` on when none.
        insert_count: Option<u64> = None,
        /// `table`: the table's name.
        table: String = "usertable".to_owned(),
        /// `fieldcount`: fields of a record.
        field_count: usize = 10,
        /// `fieldlength`: bytes of a field, or the most of them where lengths differ.
        field_bytes: usize = 100,
        /// `minfieldlength`: the least bytes of a field where lengths differ.
        field_bytes_min: usize = 1,
        /// `fieldlengthdistribution`: how the lengths of fields differ.
        field_length: Lengths = Lengths::Constant,
        /// `readallfields`: whether reads and scans ask for all fields, or for one at random.
        read_all_fields: bool = true,
        /// `writeallfields`: whether updates write all fields, or one at random.
        write_all_fields: bool = false,
        /// `readproportion` and its like: what is done how often.
        mix: Mix = Mix { read: 0.95, update: 0.05, ..Mix::default() },
        /// `requestdistribution`: which records are asked for.
        requests: Requests = Requests::Uniform,
        /// `hotspotdatafraction`: the hot part of the records, 0 to 1.
        hotspot_data_fraction: f64 = 0.2,
        /// `hotspotopnfraction`: the part of the operations that go there, 0 to 1.
        hotspot_operation_fraction: f64 = 0.8,
        /// `exponential.percentile`: per cent of the operations that go to the newest part.
        exponential_percentile: f64 = 95.0,
        /// `exponential.frac`: how large that part is, of `recordcount`.
        exponential_fraction: f64 = 0.857_142_857_1,
        /// `minscanlength`: the least records of a scan.
        scan_length_min: usize = 1,
        /// `maxscanlength`: the most records of a scan.
        scan_length_max: usize = 1000,
        /// `scanlengthdistribution`: how the lengths of scans differ; never [`Lengths::Constant`].
        scan_length: Lengths = Lengths::Uniform,
        /// `insertorder`: how a record's number becomes its key.
        insert_order: InsertOrder = InsertOrder::Hashed,
        /// `zeropadding`: the least digits of a key.
        zero_padding: usize = 1,
        /// `dataintegrity`: whether values follow from their keys and are compared when they are
        /// read.
        data_integrity: bool = false,
        /// `target`: operations per second that the run is held to; as fast as possible when none.
        rate: Option<f64> = None,
        /// `threads` or `threadcount`: the default number of threads.
        threads: Option<usize> = None,
        /// `maxexecutiontime`: when a run ends, done or not.
        seconds_max: Option<Duration> = None,
        /// `core_workload_insertion_retry_limit`: how often a failed insert is tried again.
        insert_retries: u32 = 0,
        /// `core_workload_insertion_retry_interval`: how long is waited before.
        insert_retry_interval: Duration = Duration::from_secs(3),
    }
}

/// How often which operation is done. The proportions need not add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mix {
    /// `readproportion`.
    pub read: f64,
    /// `updateproportion`.
    pub update: f64,
    /// `insertproportion`.
    pub insert: f64,
    /// `scanproportion`.
    pub scan: f64,
    /// `readmodifywriteproportion`.
    pub read_modify_write: f64,
}

choice! {
    /// Which records are asked for.
    pub enum Requests {
        /// All alike.
        Uniform = "uniform",
        /// Few very often, scattered over the keys (scrambled zipfian, 0.99).
        Zipfian = "zipfian",
        /// The newest most often.
        Latest = "latest",
        /// A part of the records gets a part of the operations.
        Hotspot = "hotspot",
        /// One after the other, again and again.
        Sequential = "sequential",
        /// The newest more often, falling off exponentially.
        Exponential = "exponential",
    }
}

choice! {
    /// How lengths of fields or scans differ.
    pub enum Lengths {
        /// They do not.
        Constant = "constant",
        /// All lengths alike.
        Uniform = "uniform",
        /// Short ones more often.
        Zipfian = "zipfian",
    }
}

choice! {
    /// How a record's number becomes its key.
    pub enum InsertOrder {
        /// Hashed: neighbours are inserted far from each other.
        Hashed = "hashed",
        /// The number itself.
        Ordered = "ordered",
    }
}

impl CoreOptions {
    const RECORD_BYTES_MAX: usize = 1 << 30;

    /// What the records look like.
    pub(crate) fn shape(&self) -> RecordShape {
        RecordShape { table: self.table.clone(), fields: self.field_count }
    }

    /// Records that the load phase inserts.
    pub(crate) fn loaded_count(&self) -> u64 {
        self.insert_count.unwrap_or(self.record_count.saturating_sub(self.insert_start))
    }

    /// Bytes of keys and values that the load phase inserts, about.
    pub(crate) fn loaded_bytes(&self) -> u64 {
        const KEY_BYTES: u64 = 23;
        self.loaded_count().saturating_mul(KEY_BYTES + (self.field_count * self.field_bytes) as u64)
    }

    /// Whether another workload loads the same records.
    pub(crate) fn has_records_of(&self, other: &CoreOptions) -> bool {
        let numbers = |core: &CoreOptions| (core.insert_start, core.loaded_count());
        let keys = |core: &CoreOptions| (core.insert_order, core.zero_padding);
        (self.shape(), numbers(self), keys(self), self.data_integrity)
            == (other.shape(), numbers(other), keys(other), other.data_integrity)
    }

    /// Says what does not fit together.
    pub(crate) fn check(&self) -> Result<()> {
        // The names in the messages are those of YCSB: a user knows no others.
        let problem = if self.loaded_count() == 0 {
            "there are no records: give recordcount (above insertstart), or insertcount"
        } else if self.insert_start.saturating_add(self.loaded_count()) > self.record_count {
            "insertstart and insertcount together exceed recordcount: raise recordcount"
        } else if self.field_count == 0 {
            "fieldcount is 0: a record needs at least one field"
        } else if self.field_count.saturating_mul(self.field_bytes) > Self::RECORD_BYTES_MAX {
            "fieldcount times fieldlength is above 1 GiB: lower one of them"
        } else if self.field_length != Lengths::Constant
            && !(1..=self.field_bytes).contains(&self.field_bytes_min)
        {
            "minfieldlength is 0 or above fieldlength"
        } else if self.data_integrity && self.field_length != Lengths::Constant {
            "dataintegrity needs fieldlengthdistribution=constant"
        } else if self.mix.total() <= 0.0 {
            "all proportions are 0: give one of readproportion, updateproportion, \
             insertproportion, scanproportion, readmodifywriteproportion"
        } else if !(1..=self.scan_length_max).contains(&self.scan_length_min) {
            "minscanlength is 0 or above maxscanlength"
        } else if self.scan_length == Lengths::Constant {
            // No property can say so (see `CoreOptions::set`), but a caller of the library can.
            "scanlengthdistribution is uniform or zipfian"
        } else {
            return Ok(());
        };
        Err(Error::invalid(problem))
    }
}

impl Mix {
    /// The sum of the proportions.
    pub(crate) fn total(&self) -> f64 {
        self.read + self.update + self.insert + self.scan + self.read_modify_write
    }
}
