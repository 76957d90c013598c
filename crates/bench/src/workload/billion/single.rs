//! The phases with a loop of single calls in each connection.

use std::time::Instant;

use tonnage::{Error, Result};

use super::job::BillionJob;
use super::options::Phase;
use crate::generate::Permutation;
use crate::measure::{Measured, Recorder, Watcher};
use crate::system::Client;
use crate::workload::loops::{each, split};

/// The numbers of the operations in the plan.
const PUT: usize = 0;
const GET: usize = 1;

impl BillionJob<'_> {
    /// Runs a phase: each connection goes through its own part of the records. The put phase ends
    /// with everything on the disk; in the overlap phase every connection puts a new record after
    /// so many gets.
    pub(super) fn single(&self, phase: Phase, watcher: &dyn Watcher) -> Result<Measured> {
        let (first, factor) = (self.options.records, self.options.factor);
        self.measure(phase, watcher, |meter| {
            let parts = split(0..self.options.records, self.options.connections).collect();
            each(parts, |places| {
                let (client, recorder) = (self.system.client()?, meter.recorder());
                let mut connection =
                    Connection { job: self, client, recorder, rows: self.shuffled(), key: [0; 16] };
                for place in places.take_while(|_| !meter.is_over()) {
                    match phase {
                        Phase::Put => connection.put(place),
                        Phase::Overlap if place % factor == 0 => {
                            connection.put(first + place / factor);
                        }
                        Phase::Get | Phase::Overlap => connection.get(place),
                    }
                }
                Ok(())
            })?;
            if phase == Phase::Put { self.system.sync() } else { Ok(()) }
        })
    }
}

/// One thread with its session.
struct Connection<'a> {
    job: &'a BillionJob<'a>,
    client: Box<dyn Client + 'a>,
    recorder: Recorder<'a>,
    rows: Permutation,
    key: [u8; 16],
}

impl Connection<'_> {
    fn put(&mut self, row: u64) {
        self.job.options.order.key(row, &mut self.key);
        let value = self.job.values.of(row);
        let started = Instant::now();
        let outcome = self.client.put_pair(&self.key, value, self.job.options.run.durability);
        self.recorder.record(PUT, started, None, outcome);
    }

    fn get(&mut self, place: u64) {
        self.job.options.order.key(self.rows.at(place), &mut self.key);
        let started = Instant::now();
        let found = self.client.get_pair(&self.key);
        let missing = || {
            let key = String::from_utf8_lossy(&self.key);
            Error::not_found(format!("{key}: it was put and is not there"))
        };
        let outcome = found.and_then(|pair| pair.map(drop).ok_or_else(missing));
        self.recorder.record(GET, started, None, outcome);
    }
}
