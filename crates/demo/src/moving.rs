//! The fleet continues: for a map that somebody looks at.

use tonnage::{BulkPutOptions, OnExisting, Result, Store, record_batch_stream};

use crate::fleet::{Fleet, FleetPositions};
use crate::{DemoOptions, STREAMS};

/// One row for each ship, with an index by place: a box of the map reads no history.
const NOW: [&str; 2] = [
    "CREATE TABLE ships_now (ship LONG, at TIMESTAMP(0), lat DOUBLE, lon DOUBLE, speed DOUBLE,
    course DOUBLE, heading INTEGER, status INTEGER, PRIMARY KEY (ship))",
    "CREATE INDEX by_place ON ships_now (geo_cell(lon, lat))",
];

/// The ships of a demo, which sail on from where its story left them.
pub struct MovingFleet {
    store: Store,
    streams: Vec<FleetPositions>,
}

impl MovingFleet {
    /// Takes up the fleet of a story that was told, and makes the table `ships_now`.
    ///
    /// # Errors
    /// What the store answers.
    pub fn new(store: &Store, options: &DemoOptions) -> Result<Self> {
        NOW.iter().try_for_each(|statement| store.execute(statement).map(drop))?;
        let fleet = Fleet { positions_per_ship: u32::MAX, ..options.fleet() };
        let mut streams: Vec<_> =
            (0..STREAMS).map(|number| fleet.stream(number, STREAMS)).collect();
        streams.iter_mut().for_each(|stream| stream.skip_steps(options.positions_per_ship));
        Ok(Self { store: store.clone(), streams })
    }

    /// All ships report their next position: both tables get it.
    ///
    /// # Errors
    /// What the store answers.
    pub fn advance(&mut self) -> Result<()> {
        let mut streams = Vec::with_capacity(2 * self.streams.len());
        for (number, stream) in self.streams.iter_mut().enumerate() {
            let Some(reports) = stream.next_step().transpose()? else { continue };
            for table in ["positions", "ships_now"] {
                let name = format!("{table} {number}");
                streams.push(record_batch_stream(name, table, vec![Ok(reports.clone())]));
            }
        }
        let options =
            BulkPutOptions { on_existing: OnExisting::Replace, ..BulkPutOptions::default() };
        self.store.bulk_put(streams, &options).map(drop).map_err(Into::into)
    }
}
