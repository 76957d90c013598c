//! The phases with a loop of single calls in each connection.

use std::ops::Range;
use std::time::Instant;

use tonnage::{Durability, Error, Result};

use super::job::{BillionJob, GET, PUT};
use super::options::Phase;
use super::source::split;
use crate::generate::Permutation;
use crate::measure::{Measured, Meter, Recorder, Watcher};
use crate::system::Client;

/// One thread with its session.
struct Connection<'a> {
    job: &'a BillionJob<'a>,
    client: Box<dyn Client + 'a>,
    recorder: Recorder<'a>,
    rows: Permutation,
    key: [u8; 16],
}

impl BillionJob<'_> {
    /// Puts all records, and ends with everything on the disk.
    pub(super) fn single_put(&self, watcher: &dyn Watcher) -> Result<Measured> {
        self.measure(Phase::Put, watcher, |meter| {
            self.each_connection(meter, |connection, row| connection.put(row))?;
            self.system.sync()
        })
    }

    /// Gets each record once, in an order that has nothing to do with the one they were put in.
    pub(super) fn single_get(&self, watcher: &dyn Watcher) -> Result<Measured> {
        self.measure(Phase::Get, watcher, |meter| {
            self.each_connection(meter, |connection, place| connection.get(place))
        })
    }

    /// Every connection puts a new record after so many gets.
    pub(super) fn single_overlap(&self, watcher: &dyn Watcher) -> Result<Measured> {
        let (first, factor) = (self.options.records, self.options.factor);
        self.measure(Phase::Overlap, watcher, |meter| {
            self.each_connection(meter, |connection, place| match place % factor {
                0 => connection.put(first + place / factor),
                _ => connection.get(place),
            })
        })
    }

    /// Shares the places among the connections, each of which goes through its own in order.
    fn each_connection(
        &self,
        meter: &Meter<'_>,
        operate: impl Fn(&mut Connection<'_>, u64) + Sync,
    ) -> Result<()> {
        let work = |places: Range<u64>| {
            let (client, recorder) = (self.system.client()?, meter.recorder());
            let mut connection =
                Connection { job: self, client, recorder, rows: self.shuffled(), key: [0; 16] };
            for place in places.take_while(|_| !meter.is_over()) {
                operate(&mut connection, place);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let places = split(0..self.options.records, self.options.connections);
            let threads: Vec<_> = places.map(|places| scope.spawn(|| work(places))).collect();
            let ends = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ends.fold(Ok(()), Result::and)
        })
    }
}

impl Connection<'_> {
    fn put(&mut self, row: u64) {
        self.job.options.order.key(row, &mut self.key);
        let value = self.job.values.of(row);
        let started = Instant::now();
        let outcome = self.client.put_pair(&self.key, value, self.durability());
        self.recorder.record(PUT, started, None, outcome);
    }

    fn get(&mut self, place: u64) {
        self.job.options.order.key(self.rows.at(place), &mut self.key);
        let started = Instant::now();
        let outcome = match self.client.get_pair(&self.key) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Error::not_found(format!(
                "{}: it was put and is not there",
                String::from_utf8_lossy(&self.key)
            ))),
            Err(error) => Err(error),
        };
        self.recorder.record(GET, started, None, outcome);
    }

    fn durability(&self) -> Durability {
        self.job.options.run.durability
    }
}
