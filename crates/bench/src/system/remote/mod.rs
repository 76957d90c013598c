//! Tonnage behind a server: the server runs in this process, on loopback, and everything measured
//! goes through the client and a socket.

mod client;
mod server;

use tonnage::arrow::array::RecordBatch;
use tonnage::{BulkPutOptions, Error, Result};
use tonnage_client::{Answer, BulkGetRequest, Fetched, batch_of_keys};

pub(super) use self::server::Remote;
use super::library::{bulk_put, text_key};
use super::{
    AnswerSink, BulkDone, BulkOptions, Client, Feature, Gauges, GetKeys, PairSource, PutInput,
    RecordShape, RowSink, Rows, System, SystemKind,
};

impl System for Remote {
    fn name(&self) -> &str {
        SystemKind::TonnageRemote.name()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let mut settings = self.embedded.settings();
        settings.push(("transport".to_owned(), "Arrow Flight, loopback".to_owned()));
        settings
    }

    fn offers(&self, feature: Feature) -> bool {
        feature != Feature::MultiTable
    }

    fn create_records(&self, shape: &RecordShape) -> Result<()> {
        self.embedded.create_records(shape)?;
        self.shape.set(shape.clone()).map_err(|_| Error::invalid("there are records already"))
    }

    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(client::RemoteClient::new(self)))
    }

    fn bulk_put(&self, input: PutInput, options: &BulkOptions<'_>) -> Result<BulkDone> {
        let put = |streams, options: &BulkPutOptions| {
            // Memory and threads are the server's.
            let (memory_bytes_max, per_shard_parallelism) = (None, None);
            let options =
                BulkPutOptions { memory_bytes_max, per_shard_parallelism, ..options.clone() };
            Ok(self.client.bulk_put(streams, &options)?.total)
        };
        bulk_put(input, options, put, |_, _| Err(self.unsupported("calls over several tables")))
    }

    fn bulk_get(&self, keys: GetKeys, options: &BulkOptions<'_>) -> Result<BulkDone> {
        let (keys, request): (Rows, _) = match keys {
            GetKeys::Pairs(keys) => (Box::new(batches_of(keys)), BulkGetRequest::default()),
            GetKeys::Rows(table, keys, []) => (keys, BulkGetRequest::of(table)),
            GetKeys::Rows(..) => return Err(self.unsupported("rows of child tables in a bulk get")),
            GetKeys::Tables(_) => return Err(self.unsupported("calls over several tables")),
        };
        let mut done = BulkDone::default();
        for batch in self.client.bulk_get(keys, &request)? {
            done.count_batch(&batch?, options);
        }
        Ok(done)
    }

    fn define(&self, statement: &str) -> Result<()> {
        self.client.define(statement).map(drop)
    }

    fn query(&self, statement: &str, sink: &mut RowSink<'_>) -> Result<()> {
        match self.client.sql(statement)? {
            Answer::Rows(mut rows) => rows.try_for_each(|batch| sink(&batch?)),
            _ => Ok(()),
        }
    }

    fn multi_query(&self, statements: &[&str], sink: &mut AnswerSink<'_>) -> Result<()> {
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

fn batches_of(mut keys: PairSource) -> impl Iterator<Item = Result<RecordBatch>> {
    std::iter::from_fn(move || {
        let mut batch = Vec::new();
        let more = keys.next_batch(&mut |key, _| {
            batch.push(text_key(key)?);
            Ok(())
        });
        more.map(|more| more.then(|| batch_of_keys(&batch)))
            .unwrap_or_else(|error| Some(Err(error)))
    })
}
