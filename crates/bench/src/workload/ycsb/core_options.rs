//! The parameters of YCSB's core workload, typed.

use std::time::Duration;

use tonnage::{Error, Result};

use crate::system::RecordShape;

/// The parameters of YCSB's core workload; the defaults are YCSB's.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreOptions {
    /// `recordcount`: records in the table when the run phase begins.
    pub record_count: u64,
    /// `operationcount`: operations of the run phase, warm-up included; 0 is without end, until the
    /// time is over.
    pub operation_count: u64,
    /// `insertstart`: the number of the first record.
    pub insert_start: u64,
    /// `insertcount`: records that the load phase inserts; all from `insertstart` on when none.
    pub insert_count: Option<u64>,
    /// `table`: the table's name.
    pub table: String,
    /// `fieldcount`: fields of a record.
    pub field_count: usize,
    /// `fieldlength`: bytes of a field, or the most of them where lengths differ.
    pub field_bytes: usize,
    /// `minfieldlength`: the least bytes of a field where lengths differ.
    pub field_bytes_min: usize,
    /// `fieldlengthdistribution`: how the lengths of fields differ.
    pub field_length: Lengths,
    /// `readallfields`: whether reads and scans ask for all fields, or for one at random.
    pub read_all_fields: bool,
    /// `writeallfields`: whether updates write all fields, or one at random.
    pub write_all_fields: bool,
    /// `readproportion` and its like: what is done how often.
    pub mix: Mix,
    /// `requestdistribution`: which records are asked for.
    pub requests: Requests,
    /// `minscanlength`: the least records of a scan.
    pub scan_length_min: usize,
    /// `maxscanlength`: the most records of a scan.
    pub scan_length_max: usize,
    /// `scanlengthdistribution`: how the lengths of scans differ; never [`Lengths::Constant`].
    pub scan_length: Lengths,
    /// `insertorder`: how a record's number becomes its key.
    pub insert_order: InsertOrder,
    /// `zeropadding`: the least digits of a key.
    pub zero_padding: usize,
    /// `dataintegrity`: whether values follow from their keys and are compared when they are read.
    pub data_integrity: bool,
    /// `system`: operations per second that the run is held to; as fast as possible when none.
    pub rate: Option<f64>,
    /// `threads` or `threadcount`: threads, where nobody says otherwise.
    pub threads: Option<usize>,
    /// `maxexecutiontime`: when a run ends, done or not.
    pub seconds_max: Option<Duration>,
    /// `core_workload_insertion_retry_limit`: how often a failed insert is tried again.
    pub insert_retries: u32,
    /// `core_workload_insertion_retry_interval`: how long is waited before.
    pub insert_retry_interval: Duration,
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

/// Which records are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Requests {
    /// All alike.
    Uniform,
    /// Few very often, scattered over the keys (scrambled zipfian, 0.99).
    Zipfian,
    /// The newest most often.
    Latest,
    /// A part of the records gets a part of the operations.
    Hotspot {
        /// `hotspotdatafraction`: the hot part of the records, 0 to 1.
        data_fraction: f64,
        /// `hotspotopnfraction`: the part of the operations that go there, 0 to 1.
        operation_fraction: f64,
    },
    /// One after the other, again and again.
    Sequential,
    /// The newest more often, falling off exponentially.
    Exponential {
        /// `exponential.percentile`: per cent of the operations that go to the newest part.
        percentile: f64,
        /// `exponential.frac`: how large that part is, of `recordcount`.
        fraction: f64,
    },
}

/// How lengths of fields or scans differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// They do not.
    Constant,
    /// All lengths alike.
    Uniform,
    /// Short ones more often.
    Zipfian,
}

/// How a record's number becomes its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOrder {
    /// Hashed: neighbours are inserted far from each other.
    Hashed,
    /// The number itself.
    Ordered,
}

impl Default for CoreOptions {
    fn default() -> Self {
        CoreOptions {
            record_count: 1000,
            operation_count: 1000,
            insert_start: 0,
            insert_count: None,
            table: "usertable".to_owned(),
            field_count: 10,
            field_bytes: 100,
            field_bytes_min: 1,
            field_length: Lengths::Constant,
            read_all_fields: true,
            write_all_fields: false,
            mix: Mix { read: 0.95, update: 0.05, ..Mix::default() },
            requests: Requests::Uniform,
            scan_length_min: 1,
            scan_length_max: 1000,
            scan_length: Lengths::Uniform,
            insert_order: InsertOrder::Hashed,
            zero_padding: 1,
            data_integrity: false,
            rate: None,
            threads: None,
            seconds_max: None,
            insert_retries: 0,
            insert_retry_interval: Duration::from_secs(3),
        }
    }
}

impl CoreOptions {
    const RECORD_BYTES_MAX: usize = 1 << 30;

    /// What the records look like.
    pub(crate) fn shape(&self) -> RecordShape {
        RecordShape {
            table: self.table.clone(),
            fields: self.field_count,
            field_bytes: self.field_bytes,
        }
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
            "all proportions are 0: give one of readproportion, updateproportion, insertproportion, scanproportion, \
             readmodifywriteproportion"
        } else if !(1..=self.scan_length_max).contains(&self.scan_length_min) {
            "minscanlength is 0 or above maxscanlength"
        } else if self.scan_length == Lengths::Constant {
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

impl Requests {
    /// Its name in property files and reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Requests::Uniform => "uniform",
            Requests::Zipfian => "zipfian",
            Requests::Latest => "latest",
            Requests::Hotspot { .. } => "hotspot",
            Requests::Sequential => "sequential",
            Requests::Exponential { .. } => "exponential",
        }
    }
}
