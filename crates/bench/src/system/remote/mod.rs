//! Tonnage behind a server: the server runs in this process, on loopback, and everything measured
//! goes through the client and a socket.

mod client;
mod server;

use tonnage::arrow::array::RecordBatch;
use tonnage::{BulkPutOptions, Counts, EntryStream, Error, Result};
use tonnage_client::{BulkGetRequest, Fetched, batch_of_keys};

use self::client::RemoteClient;
pub(super) use self::server::Remote;
use super::bulk_put;
use super::done::{bytes_of, count};
use super::feeds::{RowKeys, text_key};
use super::{
    BulkDone, BulkOptions, Client, Feature, Gauges, KeySource, PairSource, RecordShape,
    RecordSource, RowSource, System,
};

impl Remote {
    /// Puts streams through the client.
    fn putter(&self) -> impl Fn(Vec<Box<dyn EntryStream>>, &BulkPutOptions) -> Result<Counts> + '_ {
        |streams, options| {
            // Memory and threads are the server's.
            let options = BulkPutOptions {
                memory_bytes_max: None,
                per_shard_parallelism: None,
                ..options.clone()
            };
            Ok(self.client.bulk_put(streams, &options)?.total)
        }
    }
}

impl System for Remote {
    fn name(&self) -> &str {
        "tonnage-remote"
    }

    fn settings(&self) -> Vec<(String, String)> {
        let mut settings = self.embedded.settings();
        settings.push(("transport".to_owned(), "Arrow Flight, loopback".to_owned()));
        settings
    }

    fn offers(&self, feature: Feature) -> bool {
        match feature {
            Feature::Tables | Feature::Queries | Feature::Durable => true,
            Feature::MultiTable => false,
        }
    }

    fn create_records(&self, shape: &RecordShape) -> Result<()> {
        *self.shape() = Some(shape.clone());
        self.embedded.create_records(shape)
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(RemoteClient::new(self)))
    }

    fn bulk_put_records(
        &self,
        shape: &RecordShape,
        sources: Vec<Box<dyn RecordSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk_put::put_records(&self.putter(), shape, sources, options)
    }

    fn bulk_put_pairs(
        &self,
        sources: Vec<Box<dyn PairSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk_put::put_pairs(&self.putter(), sources, options)
    }

    fn bulk_get_pairs(
        &self,
        mut keys: Box<dyn KeySource>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        let batches = std::iter::from_fn(move || {
            let mut batch = Vec::new();
            let more = keys.next_batch(&mut |key| {
                batch.push(text_key(key)?);
                Ok(())
            });
            match more {
                Ok(true) => Some(batch_of_keys(&batch)),
                Ok(false) => None,
                Err(error) => Some(Err(error)),
            }
        });
        let mut done = BulkDone::default();
        for batch in self.client.bulk_get(batches, &BulkGetRequest::default())? {
            let batch = batch?;
            count(&mut done, batch.num_rows() as u64, bytes_of(&batch), options);
        }
        Ok(done)
    }

    fn define(&self, statement: &str) -> Result<()> {
        self.client.define(statement).map(drop)
    }

    fn bulk_put_rows(
        &self,
        table: &str,
        sources: Vec<Box<dyn RowSource>>,
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        bulk_put::put_rows(&self.putter(), table, sources, options)
    }

    fn bulk_get_rows(
        &self,
        table: &str,
        keys: Box<dyn RowSource>,
        children: &[&str],
        options: &BulkOptions,
    ) -> Result<BulkDone> {
        if !children.is_empty() {
            return Err(self.unsupported("rows of child tables in a bulk get"));
        }
        let mut done = BulkDone::default();
        for batch in self.client.bulk_get(RowKeys(keys), &BulkGetRequest::of(table))? {
            let batch = batch?;
            count(&mut done, batch.num_rows() as u64, bytes_of(&batch), options);
        }
        Ok(done)
    }

    fn multi_query(
        &self,
        statements: &[&str],
        sink: &mut dyn FnMut(usize, &RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let asked: Vec<_> =
            statements.iter().map(|text| ((*text).to_owned(), Vec::new())).collect();
        for (number, answer) in self.client.fetch_all(&asked)?.into_iter().enumerate() {
            let at = |error: Error| error.at(format!("statement {number}"));
            if let Fetched::Rows(_, batches) = answer.map_err(at)? {
                batches.iter().try_for_each(|batch| sink(number, batch).map_err(at))?;
            }
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.client.sync()
    }

    fn settle(&self) -> Result<()> {
        self.embedded.settle()
    }

    fn gauges(&self) -> Result<Gauges> {
        self.embedded.gauges()
    }
}
